"""Tables that line up, and JSON of the same facts."""

import io
import json
from typing import NamedTuple

import pytest

from riverlog.cli.tables import (
    StreamedTable,
    plain,
    print_json,
    print_table,
    size_text,
    table_lines,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_words_stand_to_the_left_and_numbers_to_the_right() -> None:
    assert table_lines(["name", "count"], [["a", 5], ["longer", 1234], ["b", None]]) == [
        "name    count",
        "a           5",
        "longer   1234",
        "b           -",
    ]


def test_a_column_may_be_put_to_the_right_by_name() -> None:
    lines = table_lines(["size", "x"], [["1 B", True], ["10 B", False]], right=("size",))
    assert lines == ["size  x", " 1 B  yes", "10 B  no"]


def test_a_table_without_rows_has_its_headings() -> None:
    assert table_lines(["a", "b"], []) == ["a  b"]


def test_the_widest_column_gives_way_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    terminal, pipe = Terminal(), io.StringIO()
    rows = [["key", "v" * 100], ["another", "w"]]
    print_table(["name", "value"], rows, out=terminal)
    print_table(["name", "value"], rows, out=pipe)
    assert max(map(len, terminal.getvalue().splitlines())) == 30
    assert "…" in terminal.getvalue()
    assert "v" * 100 in pipe.getvalue()


def test_no_name_can_draw_on_the_terminal() -> None:
    assert table_lines(["n"], [["a\x1b[2J\nb"]])[1] == "a\\x1b[2J\\nb"


def test_rows_that_come_one_by_one_stand_under_their_headings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    pipe, terminal = io.StringIO(), Terminal()
    for out in (pipe, terminal):
        StreamedTable([("offset", -8), ("value", 10)], out).print([7, "v" * 30])
    assert pipe.getvalue() == f"  offset  value\n       7  {'v' * 30}\n"
    assert terminal.getvalue().splitlines()[1] == f"       7  {'v' * 9}…"


class Pair(NamedTuple):
    left: int
    right: tuple[int, ...]


def test_json_has_named_tuples_as_objects() -> None:
    out = io.StringIO()
    print_json({"pairs": [Pair(1, (2, 3))], "text": "größe"}, out)
    assert json.loads(out.getvalue()) == {"pairs": [{"left": 1, "right": [2, 3]}], "text": "größe"}
    assert plain((Pair(1, ()),)) == [{"left": 1, "right": []}]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1_500_000, "1.4 MiB"),
        (5 << 50, "5120.0 TiB"),
    ],
)
def test_sizes_are_for_people(size: int, text: str) -> None:
    assert size_text(size) == text
