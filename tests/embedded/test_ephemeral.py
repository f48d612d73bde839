"""`riverlog serve --ephemeral`: a broker for the tests of any language."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from riverlog.config import Address, parse_address
from tests import tools
from tests.conformance.clients.process_client import node_command
from tests.embedded.talking import is_listening, make_topic, produce, values

COMMAND = [sys.executable, "-m", "riverlog", "serve", "--ephemeral", "--print-bootstrap"]
END_S_MAX = 20


@contextmanager
def ephemeral(*flags: str) -> Iterator[tuple[subprocess.Popen[str], Address]]:
    """A running broker, and where it says it is; killed at the end if it still runs."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([*COMMAND, *flags], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    with process:
        try:
            assert process.stdout is not None
            yield process, parse_address(process.stdout.readline().strip())
        finally:
            process.kill()


def test_it_prints_one_line_and_serves_from_memory() -> None:
    with ephemeral("--num-partitions", "3") as (process, address):
        assert address.host == "127.0.0.1"
        assert make_topic(address) == 3
        assert produce(address, b"kept").error_code == 0
        assert values(address) == [b"kept"]
        process.send_signal(signal.SIGTERM)
        rest, log = process.communicate(timeout=END_S_MAX)
    assert rest == ""
    assert f"listening address={address}" in log
    assert process.returncode == 0
    assert not is_listening(address)


def test_it_goes_on_without_a_parent_that_writes_to_it_unless_it_was_asked_to_end() -> None:
    with ephemeral() as (process, address):
        assert process.stdin is not None
        process.stdin.close()
        time.sleep(0.1)
        assert is_listening(address)
        assert process.poll() is None


def test_it_ends_cleanly_when_its_standard_input_is_closed() -> None:
    with ephemeral("--until-stdin-closes") as (process, address):
        assert process.stdin is not None
        process.stdin.write("what is written there does not matter\n")
        process.stdin.flush()
        assert is_listening(address)
        process.stdin.close()
        assert process.wait(END_S_MAX) == 0
    assert not is_listening(address)


def test_it_ends_at_once_without_any_standard_input() -> None:
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "--until-stdin-closes"],
        capture_output=True,
        timeout=END_S_MAX,
        check=False,
    )
    assert ended.returncode == 0


def test_a_port_may_be_chosen_and_data_may_not() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        chosen = Address(*free.getsockname())
    with ephemeral("--listen", str(chosen)) as (_, address):
        assert address == chosen
    refused = subprocess.run(
        [*COMMAND, "--data", "somewhere"], capture_output=True, text=True, timeout=30, check=False
    )
    assert refused.returncode == 2
    assert re.fullmatch(r"riverlog: --ephemeral .*\n", refused.stderr)


def test_a_data_directory_in_the_environment_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIVERLOG_DATA", str(tmp_path / "data"))
    with ephemeral() as (_, address):
        assert is_listening(address)
    assert not (tmp_path / "data").exists()


@pytest.mark.client("node")
def test_a_suite_in_node_uses_it_and_leaves_nothing_behind() -> None:
    directory = tools.node_modules()
    program = Path(__file__).parent / "node" / "ephemeral.mjs"
    done = subprocess.run(
        [*node_command(directory), str(program), *COMMAND, "--until-stdin-closes"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["ends"] == ["0", "0", "1"]
    deadline = time.monotonic() + END_S_MAX
    while os.path.exists(f"/proc/{told['pid']}") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_listening(parse_address(told["bootstrap"]))
