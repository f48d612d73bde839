"""Tables that line up, trees, and the same facts as JSON for machines."""

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TextIO

from riverlog.cli.printable import printable

Cell = str | int | float | bool | None

GAP = "  "
_ELLIPSIS = "…"
_WIDTH_MIN = 8


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    right: Collection[str] = (),
    out: TextIO | None = None,
) -> None:
    """Prints rows under headings, numbers and the columns called `right` to the right.

    On a terminal the widest column gives way, so that a row stays on one line; in a pipe nothing
    is ever cut.
    """
    out = out or sys.stdout
    for line in table_lines(headings, list(rows), right, _width_max(out)):
        print(line, file=out)


def table_lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    right: Collection[str] = (),
    width_max: int | None = None,
) -> list[str]:
    """The lines of a table, headings first, none wider than `width_max` if that can be had."""
    texts = [[_text_of(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *texts, strict=True)]
    if width_max is not None:
        _narrow(widths, width_max)
    is_right = [
        heading in right or (bool(rows) and all(_is_number(row[column]) for row in rows))
        for column, heading in enumerate(headings)
    ]
    return [
        GAP.join(
            _cut(text, width).rjust(width) if to_right else _cut(text, width).ljust(width)
            for text, width, to_right in zip(row, widths, is_right, strict=True)
        ).rstrip()
        for row in [list(headings), *texts]
    ]


class StreamedTable:
    """A table whose rows are printed as they come, because there may be millions.

    Columns have the widths they are given; a wider cell pushes the rest of its row along.
    """

    def __init__(self, columns: Sequence[tuple[str, int]], out: TextIO | None = None) -> None:
        """The headings with their widths; a negative width puts the column to the right."""
        self._widths = [width for _, width in columns]
        self._out = out or sys.stdout
        self._width_max = _width_max(self._out)
        self.print([heading for heading, _ in columns])

    def print(self, cells: Sequence[Cell]) -> None:
        """Prints one row; on a terminal it is cut where the line ends."""
        line = GAP.join(
            text.rjust(-width) if width < 0 else text.ljust(width)
            for text, width in zip(map(_text_of, cells), self._widths, strict=True)
        ).rstrip()
        print(line if self._width_max is None else _cut(line, self._width_max), file=self._out)


def print_json(value: object, out: TextIO | None = None) -> None:
    """Prints one JSON document; named tuples become objects."""
    print(json.dumps(plain(value), indent=2, ensure_ascii=False), file=out or sys.stdout)


def print_json_line(value: object, out: TextIO | None = None) -> None:
    """Prints one JSON document on one line, for output that may be long or without end."""
    print(json.dumps(plain(value), ensure_ascii=False), file=out or sys.stdout)


def plain(value: object) -> object:
    """The same in JSON's own types: named tuples as objects, other tuples as arrays."""
    match value:
        case dict():
            return {name: plain(part) for name, part in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return {name: plain(getattr(value, name)) for name in value._fields}
        case list() | tuple():
            return [plain(part) for part in value]
    return value


def size_text(size_bytes: int) -> str:
    """A size for people: 512 B, 4.0 KiB, 1.5 GiB."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    value = size_bytes / 1024
    for unit in ("KiB", "MiB", "GiB"):
        if value < 1000:
            return f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def _width_max(out: TextIO) -> int | None:
    """How wide a line may be; in a pipe nothing is ever cut."""
    if not out.isatty():
        return None
    # Slow to import, and most output goes into files and pipes.
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _text_of(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return printable(str(cell))


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _narrow(widths: list[int], width_max: int) -> None:
    """Takes from the widest column until the row fits."""
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width_max
    while excess > 0 and max(widths) > _WIDTH_MIN:
        widest = widths.index(max(widths))
        widths[widest] -= 1
        excess -= 1


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + _ELLIPSIS
