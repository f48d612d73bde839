"""`make pipeline` in small, with real Spark: everything is killed midway, and no total differs."""

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = 20_000
RUN_S_MAX = 600


def pipeline(*arguments: str, seconds_max: int = RUN_S_MAX) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.pipeline", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds_max,
        check=False,
    )


@pytest.mark.client("spark")
@pytest.mark.timeout(RUN_S_MAX)
def test_every_total_is_right_though_driver_and_broker_are_killed(tmp_path: Path) -> None:
    report = tmp_path / "report.html"

    done = pipeline("--rows", str(ROWS), "--keep", str(tmp_path / "kept"), "--report", str(report))

    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^✗ kill -9", done.stdout, re.MULTILINE)) == 2
    assert "differs" not in done.stdout
    assert report.read_text().count("<svg") == 2
    assert _running(tmp_path) == []


@pytest.mark.client("spark")
@pytest.mark.timeout(RUN_S_MAX)
def test_the_check_fails_when_a_row_is_dropped(tmp_path: Path) -> None:
    done = pipeline(
        "--rows", str(ROWS), "--calm", "--drop-a-row",
        "--keep", str(tmp_path / "kept"), "--report", str(tmp_path / "report.html"),
    )  # fmt: skip

    assert done.returncode == 1, done.stdout + done.stderr
    counted = re.search(r"orders in windows +([\d,]+) +([\d,]+) +differs", done.stdout)
    assert counted is not None, done.stdout
    expected, found = (int(number.replace(",", "")) for number in counted.groups())
    assert found == expected - 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rows", "many"], "at least 5000 rows, not 'many'"),
        (["--rows", "10"], "at least 5000 rows, not '10'"),
        (["--keep", str(ROOT)], "not an empty directory"),
    ],
    ids=["no number", "too few", "full directory"],
)
def test_what_cannot_be_is_refused_in_a_line(arguments: list[str], said: str) -> None:
    done = pipeline(*arguments)

    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


def _running(directory: Path) -> list[str]:
    """The command lines of processes that still know of `directory`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            command = path.read_text(errors="replace")
            if str(directory) in command:
                found.append(command)
    return found
