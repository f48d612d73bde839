"""Files of rows: CSV, JSON lines and Parquet, read one by one; bad rows are told apart."""

import csv
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, NoReturn, Protocol

from riverlog.config import MIB
from riverlog.jobs.errors import JobRefused

CSV = "csv"
JSON_LINES = "jsonl"
PARQUET = "parquet"
FORMATS = (CSV, JSON_LINES, PARQUET)
SUFFIXES = {
    ".csv": CSV,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".json": JSON_LINES,
    ".parquet": PARQUET,
    ".pq": PARQUET,
}

_FIELD_BYTES_MAX = 64 * MIB
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """A row by its columns; `text` is the row itself where the file has it in JSON already."""

    number: int
    values: Mapping[str, object]
    text: bytes | None = None


class BadRow(NamedTuple):
    """A row that cannot be read, or not be made a record, and why."""

    number: int
    reason: str


class RowFile(Protocol):
    """An open file; its rows are numbered from 1, whether they are good or bad."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """What every row has; None if rows differ."""

    @property
    def read_bytes(self) -> int:
        """How much of the file was read so far."""

    def rows(self) -> Iterator[Row | BadRow]:
        """All rows, once."""

    def close(self) -> None:
        """Ends reading."""


def format_of(path: str) -> str:
    """The format that a name tells; raises `JobRefused`."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise JobRefused(f"{path}: its name does not end in {known}; --format says what it is")
    return SUFFIXES[suffix]


def open_rows(path: str, file_format: str | None = None, delimiter: str = ",") -> RowFile:
    """Opens a file; raises `JobRefused` if it is not what it should be, `OSError`.

    The `delimiter` is what stands between fields of CSV.
    """
    found = file_format or format_of(path)
    if os.path.isdir(path):
        raise JobRefused(f"{path} is a directory; name its files")
    if found == PARQUET:
        from riverlog.jobs.parquet_rows import ParquetRows

        return ParquetRows(path)
    return CsvRows(path, delimiter) if found == CSV else JsonRows(path)


class _Lines:
    """The lines of a file as text, and how many bytes they were.

    Not a generator: it goes on behind a line that is no text.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.read_bytes = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = next(self._file)
        if self.read_bytes == 0:
            self.read_bytes = len(line)
            line = line.removeprefix(_BYTE_ORDER_MARK)
        else:
            self.read_bytes += len(line)
        return line.decode()


class CsvRows:
    """CSV with the names of its columns in the first line; every value is text."""

    def __init__(self, path: str, delimiter: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - `close` is for that.
        self._lines = _Lines(self._file)
        # Python's own limit is below what one record may hold.
        csv.field_size_limit(_FIELD_BYTES_MAX)
        self._reader = csv.reader(self._lines, strict=True, delimiter=delimiter)
        try:
            self.columns = tuple(next(self._reader, ()))
        except (csv.Error, UnicodeDecodeError) as error:
            self.close()
            raise JobRefused(f"{path}: its first line is no CSV: {error}") from None
        if not self.columns or len(set(self.columns)) != len(self.columns):
            self.close()
            raise JobRefused(f"{path}: its first line names no columns, or one of them twice")

    @property
    def read_bytes(self) -> int:
        return self._lines.read_bytes

    def rows(self) -> Iterator[Row | BadRow]:
        columns = self.columns
        number = 0
        while True:
            try:
                fields = next(self._reader)
            except StopIteration:
                return
            except (csv.Error, UnicodeDecodeError) as error:
                number += 1
                yield BadRow(number, f"line {self._reader.line_num}: {error}")
                continue
            if not fields:
                continue  # An empty line is no row.
            number += 1
            if len(fields) == len(columns):
                yield Row(number, dict(zip(columns, fields, strict=True)))
            else:
                counted = f"{len(fields)} fields, and the first line names {len(columns)}"
                yield BadRow(number, f"line {self._reader.line_num}: {counted}")

    def close(self) -> None:
        self._file.close()


class Lines(NamedTuple):
    """The lines of a file that begin from `start` on and before `end`, and the rows before them."""

    start: int = 0
    end: int | None = None
    rows_before: int = 0


class JsonRows:
    """A JSON object on every line. It is kept as it is: numbers lose no digits."""

    columns: None = None

    def __init__(self, path: str, lines: Lines | None = None) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - `close` is for that.
        self._lines = lines or Lines()
        self.read_bytes = 0

    def rows(self) -> Iterator[Row | BadRow]:
        for number, text in enumerate(self.texts(), self._lines.rows_before + 1):
            yield _json_row(number, text)

    def texts(self) -> Iterator[bytes]:
        """Every row as it is written."""
        position = self._lines.start
        if position:
            # From the last byte of the line before: perhaps it ends there, perhaps only later.
            self._file.seek(position - 1)
            position += len(self._file.readline()) - 1
        for line in self._file:
            if self._lines.end is not None and position >= self._lines.end:
                return
            text = (line if position else line.removeprefix(_BYTE_ORDER_MARK)).strip()
            position += len(line)
            self.read_bytes = position - self._lines.start
            if text:
                yield text

    def close(self) -> None:
        self._file.close()


def _json_row(number: int, text: bytes) -> Row | BadRow:
    try:
        # Any: whatever JSON there is.
        values: Any = _DECODER.decode(text.decode())
    except (ValueError, RecursionError) as error:
        return BadRow(number, f"it is no JSON: {error}")
    if not isinstance(values, dict):
        return BadRow(number, "it is no JSON object")
    return Row(number, values, text)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
