"""Rows of a partition into Parquet files, cut at offsets, a row group in memory at a time."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from riverlog.config import MIB
from riverlog.jobs.export_manifest import DataFile
from riverlog.kernel.wanted import SCHEMA
from riverlog.stores.disk import Buffer, File, opened

# How much is encoded at once, as Arrow holds it: what readers have to take into memory, too.
ROW_GROUP_BYTES = 32 * MIB
ROW_GROUP_ROWS_MAX = 1_000_000

# Makes a file for the rows of a range; it gets its name from them.
Create = Callable[[DataFile], File]


class Piece(NamedTuple):
    """Offsets of one partition that go into files of `rows_per_file` offsets each."""

    partition: int
    start: int
    end: int
    rows_per_file: int

    def cuts(self) -> Iterator[tuple[int, int]]:
        """The range of every file: the same for the same start, wherever the piece ends."""
        for start in range(self.start, self.end, self.rows_per_file):
            yield start, min(start + self.rows_per_file, self.end)

    def parts(self) -> "list[Piece]":
        """The same work as pieces of one file each, to be shared out."""
        return [self._replace(start=start, end=end) for start, end in self.cuts()]


def write_piece(
    piece: Piece, columns: tuple[str, ...], batches: Iterable[pa.RecordBatch], create: Create
) -> Iterator[DataFile]:
    """Writes the rows, which have an `offset` and are in its order, and tells of every file.

    A file is whole and its bytes durable when it is told of. A range without rows is told of with
    `row_count` 0, and has no file.
    """
    schema = pa.schema([SCHEMA.field(name) for name in columns])
    rows = _Rows(batches)
    for start, end in piece.cuts():
        groups = _groups(rows.before(end))
        file = DataFile(piece.partition, start, end, 0, 0)
        first = next(groups, None)
        if first is not None:
            with opened(create(file)) as made:
                file = _write(file, schema, _chain(first, groups), made)
        yield file


def _write(file: DataFile, schema: pa.Schema, groups: Iterable[pa.Table], made: File) -> DataFile:
    sink = _Sink(made)
    row_count = 0
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for table in groups:
            row_count += table.num_rows
            writer.write_table(table.select(schema.names), row_group_size=ROW_GROUP_ROWS_MAX)
    made.sync()
    return file._replace(row_count=row_count, size_bytes=sink.tell())


class _Rows:
    """Batches that can be taken up to an offset, and the rest later."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = iter(batches)
        self._left: pa.RecordBatch | None = None

    def before(self, end: int) -> Iterator[pa.RecordBatch]:
        while (batch := self._left or next(self._batches, None)) is not None:
            offsets = batch.column("offset")
            count = bisect_left(range(len(offsets)), end, key=lambda row: offsets[row].as_py())
            self._left = batch.slice(count) if count < batch.num_rows else None
            if count:
                yield batch.slice(0, count)
            if self._left is not None:
                return


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches put together to what one row group holds."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.nbytes for each in held) >= ROW_GROUP_BYTES:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _chain(first: pa.Table, rest: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from rest


class _Sink:
    """A file of the port `File` as Arrow writes to files."""

    closed = False

    def __init__(self, file: File) -> None:
        self._file = file
        self._position = 0

    def write(self, data: Buffer) -> int:
        self._file.write(self._position, data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """Nothing is held back here."""

    def close(self) -> None:
        """Whoever opened the file closes it."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False
