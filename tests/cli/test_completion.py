"""Completion scripts, run by the shells themselves where they are."""

import shutil
import subprocess
from pathlib import Path

import pytest

from riverlog.cli.commands import COMMANDS
from tests.cli.running import run_here
from tests.tools import require

ASK = """\
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_riverlog
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def bash_script(tmp_path: Path) -> Path:
    require("bash")
    path = tmp_path / "riverlog.bash"
    path.write_text(run_here("completion", "bash").out)
    return path


def offered(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    quoted = " ".join(f"'{word}'" for word in ("riverlog", *words))
    asked = subprocess.run(
        ["bash", "--norc", "-u", "-c", ASK.format(script=script, words=quoted)],
        capture_output=True,
        text=True,
        check=True,
        cwd=script.parent,
    )
    assert asked.stderr == ""
    return asked.stdout.split("\n")[:-1]


def test_bash_offers_every_command(bash_script: Path) -> None:
    assert set(COMMANDS) <= set(offered(bash_script, ""))
    assert offered(bash_script, "insp") == ["inspect"]


def test_bash_offers_the_flags_of_the_command_before(bash_script: Path) -> None:
    assert offered(bash_script, "serve", "--num") == ["--num-partitions"]
    assert "--num-partitions" not in offered(bash_script, "inspect", "--")
    assert "--verify" in offered(bash_script, "inspect", "--")


def test_bash_offers_the_words_a_flag_may_have(bash_script: Path) -> None:
    assert offered(bash_script, "serve", "--log-level", "") == ["debug", "info", "warning", "error"]
    assert offered(bash_script, "completion", "z") == ["zsh"]


def test_bash_offers_files_where_a_path_is_wanted(bash_script: Path) -> None:
    (bash_script.parent / "my data").mkdir()
    assert offered(bash_script, "serve", "--data", "my") == ["my data"]
    assert offered(bash_script, "inspect", "my") == ["my data"]


def test_bash_offers_nothing_where_only_the_asker_knows(bash_script: Path) -> None:
    assert offered(bash_script, "serve", "--num-partitions", "") == [""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_tells_of_every_command_and_parses(tmp_path: Path, shell: str) -> None:
    script = tmp_path / "script"
    script.write_text(run_here("completion", shell).out)
    for name in COMMANDS:
        assert name in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "--no-execute" if shell == "fish" else "-n", str(script)], check=True)
