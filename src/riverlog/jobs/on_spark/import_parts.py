"""Files cut into parts that tasks read, and their records sorted by the partition they go to."""

import itertools
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pyspark.accumulators import Accumulator

from riverlog.client.outgoing import NewRecord
from riverlog.config import MIB
from riverlog.jobs import row_files
from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.import_marks import RowSet
from riverlog.jobs.importing import Asked, Counts, Import, Opened
from riverlog.jobs.on_spark.tasks import Failure, failure_of
from riverlog.jobs.parquet_rows import Groups, ParquetRows
from riverlog.jobs.row_files import BadRow, JsonRows, Lines, RowFile, format_of, open_rows
from riverlog.records.partitioning import StickyPartition, partition_of

PART_BYTES = 64 * MIB
# How much of a part goes through Spark at once, and how much a task holds of all partitions.
CHUNK_ROWS = 1000
CHUNK_BYTES = MIB
HELD_BYTES = 64 * MIB

# Partition of the topic, part, and chunk of the part: sorted by it, rows are in their order.
Key = tuple[int, int, int]
Chunk = tuple[Key, bytes]


class Part(NamedTuple):
    """Rows of a file that follow each other: row groups, lines, or all for None."""

    number: int
    file: int
    place: Groups | Lines | None
    size_bytes: int


class Report(NamedTuple):
    """What became of a part: rows to publish, bad ones, or why it could not be read."""

    counts: Counts
    bad: tuple[tuple[str, BadRow], ...]
    failure: Failure | None


class Reading(NamedTuple):
    """How tasks read: `paths` are the same for every process, as those of `asked` may not be."""

    asked: Asked
    paths: tuple[str, ...]
    present: Mapping[str, RowSet]
    partition_count: int
    skips_bad: bool
    attempts: int


def parts_of(asked: Asked) -> list[Part]:
    """The parts in the order of their rows; where lines are cut, nobody knows their numbers yet.

    Parquet is cut at row groups and JSON at lines. Lines of CSV may be within quotes.
    """
    parts: list[Part] = []
    for file, path in enumerate(asked.paths):
        size_bytes = os.path.getsize(path)
        cuts: Sequence[Groups | Lines | None] = [None]
        match asked.file_format or format_of(path):
            case row_files.PARQUET:
                cuts = _group_cuts(path, size_bytes)
            case row_files.JSON_LINES if size_bytes > PART_BYTES:
                starts = range(0, size_bytes, PART_BYTES)
                cuts = [Lines(start, start + PART_BYTES) for start in starts]
        for place in cuts:
            parts.append(Part(len(parts), file, place, size_bytes // len(cuts)))
    return parts


def numbered(parts: Sequence[Part], row_counts: Mapping[int, int]) -> list[Part]:
    """The parts with lines that know their numbers, by how many rows are in each such part."""
    found: list[Part] = []
    rows_before = dict.fromkeys((part.file for part in parts), 0)
    for part in parts:
        if isinstance(part.place, Lines):
            place = part.place._replace(rows_before=rows_before[part.file])
            rows_before[part.file] += row_counts[part.number]
            part = part._replace(place=place)
        found.append(part)
    return found


def chunks_of(
    reading: Reading, read_bytes: "Accumulator[int]", parts: Iterator[Part]
) -> Iterator[Chunk]:
    """In a worker: the records of parts in chunks, and a report on each behind the last partition.

    The same chunks whenever it is done: what was lost with an executor is made again.
    """
    for part in parts:
        yield from _chunks_of(reading, part)
        read_bytes.add(part.size_bytes)


def _chunks_of(reading: Reading, part: Part) -> Iterator[Chunk]:
    bad: list[tuple[str, BadRow]] = []

    def note(path: str, row: BadRow) -> None:
        bad.append((path, row))

    on_bad = note if reading.skips_bad else None
    work = Import(reading.asked, reading.present, on_bad, lambda _: None)
    count = 0
    failure: Failure | None = None
    chunks = _Chunks(part.number, reading.partition_count)
    try:
        for record in _records(reading, part, work):
            count += 1
            yield from chunks.add(record)
        yield from chunks.flush()
    except (JobFailed, JobRefused, OSError) as error:
        failure = failure_of(error, reading.attempts)
    report = Report(work.counts._replace(published=count), tuple(bad), failure)
    yield (reading.partition_count, part.number, 0), pickle.dumps(report)


def _records(reading: Reading, part: Part, work: Import) -> Iterator[NewRecord]:
    asked = reading.asked
    path = reading.paths[part.file]
    rows: RowFile
    match part.place:
        case Lines():
            rows = JsonRows(path, part.place)
        case Groups():
            rows = ParquetRows(path, part.place)
        case None:
            rows = open_rows(path, asked.file_format, asked.delimiter)
    try:
        yield from work.records_of(Opened(asked.paths[part.file], rows))
    finally:
        rows.close()


def _group_cuts(path: str, size_bytes: int) -> list[Groups]:
    """Row groups in parts of about `PART_BYTES`."""
    rows = ParquetRows(path)
    count = len(rows.group_rows)
    rows.close()
    if not count:
        return [Groups(0, 0)]
    each = max(count * PART_BYTES // max(size_bytes, 1), 1)
    return [Groups(first, min(first + each, count)) for first in range(0, count, each)]


class _Chunks:
    """Records held back by partition until there are enough of them."""

    def __init__(self, part: int, partition_count: int) -> None:
        self._part = part
        self._partition_count = partition_count
        # No chance: an attempt has to make the same choices as the one before it.
        turns = itertools.count(part)
        self._sticky = StickyPartition(lambda limit: next(turns) % limit)
        self._numbers = itertools.count()
        self._held: dict[int, list[NewRecord]] = {}
        self._sizes: dict[int, int] = {}

    def add(self, record: NewRecord) -> Iterator[Chunk]:
        if not self._partition_count:
            return
        size_bytes = len(record.key or b"") + len(record.value or b"")
        if isinstance(record.key, bytes):
            partition = partition_of(record.key, self._partition_count)
        else:
            partition = self._sticky.take(size_bytes, self._partition_count)
        held = self._held.setdefault(partition, [])
        held.append(record)
        self._sizes[partition] = self._sizes.get(partition, 0) + size_bytes
        if len(held) == CHUNK_ROWS or self._sizes[partition] >= CHUNK_BYTES:
            yield self._take(partition)
        elif sum(self._sizes.values()) >= HELD_BYTES:
            yield from self.flush()

    def flush(self) -> Iterator[Chunk]:
        for partition in sorted(self._held):
            yield self._take(partition)

    def _take(self, partition: int) -> Chunk:
        records = self._held.pop(partition)
        del self._sizes[partition]
        return (partition, self._part, next(self._numbers)), pickle.dumps(records)
