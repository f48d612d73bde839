"""Rules that no linter knows: sizes, docstrings, and what the project may not speak of."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LINES_MAX = 400

# Built from halves, so that this file does not hold what it looks for.
FORBIDDEN = [
    re.compile(left + right)
    for left, right in [
        ("/wo", "rk/"),
        ("/ro", "ot/"),
        ("/ho", "me/"),
        (r"files\.python", r"hosted"),
        (r"registry\.npm", r"js"),
        (r"repo1?\.mav", r"en"),
        (r"TO", r"DO\b"),
        (r"FIX", r"ME\b"),
    ]
]


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("git is not installed, or this is no checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_no_source_file_outgrows_its_noun() -> None:
    too_long = [path for path in SOURCES if path.read_text().count("\n") > LINES_MAX]
    assert not too_long


def test_the_project_speaks_only_of_itself() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {pattern.pattern}"
        for path in tracked_files()
        if path.suffix not in {".png", ".jar"} and path.name != "LICENSE"
        for pattern in FORBIDDEN
        if pattern.search(path.read_text(errors="replace"))
    ]
    assert not found


def test_pinned_requirements_carry_hashes_and_no_addresses() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text()
        assert "://" not in text
        for requirement in re.split(r"\n(?=\S)", text.strip()):
            assert "--hash=sha256:" in requirement, requirement


def test_the_version_is_said_once() -> None:
    import riverlog

    assert f'version = "{riverlog.__version__}"' in (ROOT / "pyproject.toml").read_text()
