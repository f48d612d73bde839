"""The page that says what becomes of hostile clients names tests, and every test here is on it."""

import ast
import re

from tests.tools import REPOSITORY

PAGE = REPOSITORY / "docs" / "hostile-clients.md"
HERE = "tests/hostile"
NAMED = re.compile(r"`(tests/\S+\.py)::(test_\w+)`")


def names_in(path: str) -> set[str]:
    tree = ast.parse((REPOSITORY / path).read_text())
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {function.name for function in functions if function.name.startswith("test_")}


def test_every_test_that_the_page_names_is_there() -> None:
    named = NAMED.findall(PAGE.read_text())
    assert named
    missing = [(path, name) for path, name in named if name not in names_in(path)]
    assert not missing


def test_every_attack_is_on_the_page() -> None:
    named = set(NAMED.findall(PAGE.read_text()))
    files = sorted((REPOSITORY / HERE).glob("test_*.py"))
    attacks = {
        (f"{HERE}/{file.name}", name)
        for file in files
        if file.name != "test_page.py"
        for name in names_in(f"{HERE}/{file.name}")
    }
    assert attacks - named == set()


def test_every_row_says_what_is_tried_what_becomes_of_it_and_where_that_is_tested() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 40
    for row in rows:
        tried, outcome, tests = (cell.strip() for cell in row.strip("|").split(" | "))
        assert tried
        assert outcome
        assert NAMED.fullmatch(tests.split(", ")[0])
