"""The examples run, and print what their pages say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(path.parent.name for path in EXAMPLES.glob("*/main.py"))
SECONDS_MAX = 60


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_prints_what_its_page_says(name: str) -> None:
    page = (EXAMPLES / name / "README.md").read_text()
    said = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    assert said is not None, "the page does not say what it prints"

    done = subprocess.run(
        [sys.executable, EXAMPLES / name / "main.py"],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert done.stdout == said[1], done.stderr
    assert done.returncode == 0


def test_the_tested_application_passes_its_tests() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=EXAMPLES / "testing_an_application",
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert "3 passed" in done.stdout, done.stdout


def test_every_example_is_listed() -> None:
    page = (EXAMPLES / "README.md").read_text()

    folders = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    assert re.findall(r"^\| \[(\w+)\]", page, re.MULTILINE) != []
    assert sorted(re.findall(r"^\| \[(\w+)\]", page, re.MULTILINE)) == folders
