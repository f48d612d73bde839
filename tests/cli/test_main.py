"""The frame of all commands: what is shown, how mistakes are told, how a run ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from riverlog import __version__
from riverlog.cli.commands import COMMANDS, load
from tests.cli.data_on_disk import batches, write_segment
from tests.cli.running import command, run, run_here


def test_help_lists_every_command_without_loading_one() -> None:
    told = run_here("--help")
    assert told.code == 0
    for name, listed in COMMANDS.items():
        assert name in told.out
        assert listed.summary in told.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_with_examples(name: str) -> None:
    told = run_here(name, "--help")
    assert (told.code, told.err) == (0, "")
    assert f"riverlog {name}" in told.out.partition("Examples:\n")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_what_the_frame_asks_for(name: str) -> None:
    module = load(name)
    assert module.DESCRIPTION
    assert all(code in (1, 2) for code in module.EXIT_CODES.values())


def test_the_version_is_told() -> None:
    assert run_here("--version").out == f"riverlog {__version__}\n"


def test_a_slip_in_a_command_or_flag_is_guessed() -> None:
    assert run_here("confgi").complaint == "there is no command 'confgi'; did you mean config?"
    said = run_here("serve", "--num-partition", "4").complaint
    assert said == "'--num-partition' has no meaning here; did you mean --num-partitions?"


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--data"],
        ["serve", "extra"],
        ["serve"],
        ["inspect"],
        ["inspect", "a", "--count", "x"],
        ["inspect", "a", "--count", "-1"],
        ["inspect", "a", "--batches", "--records"],
        ["completion", "csh"],
        ["serve", "two\nlines\x1b[31m"],
        ["--nonsense"],
    ],
)
def test_what_is_asked_wrongly_is_one_line_and_exit_code_2(arguments: list[str]) -> None:
    said = run(*arguments).complaint
    assert "\x1b" not in said


def test_serving_loads_no_code_of_other_commands() -> None:
    code = "import sys, riverlog.cli.main as m; m.main(['serve']); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    others = [f"riverlog.cli.{name}" for name in COMMANDS if name != "serve"]
    assert "riverlog.cli.serve" in loaded
    assert not set(others) & set(loaded)
    assert not {"tomllib", "difflib", "riverlog.cli.tables", "riverlog.client"} & set(loaded)


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, batches(0, 3000), sealed=False)
    with subprocess.Popen(
        command("inspect", str(tmp_path), "--records"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_a_disk_that_takes_no_output_is_told(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command("config"), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 1
    assert ended.stderr == "riverlog: No space left on device\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_quietly_and_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with subprocess.Popen(
        command("doctor", "--data", str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 20
        while not list(tmp_path.iterdir()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (code, b"", b"")
    assert list(tmp_path.iterdir()) == []
