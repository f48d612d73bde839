"""Ranges of partitions as Arrow rows: fetched batches go to the kernel unopened."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from riverlog.client.errors import CorruptRecords
from riverlog.client.fetcher import Fetched
from riverlog.kernel.decoding import UnreadableBatch, decode
from riverlog.kernel.wanted import Wanted
from riverlog.tables.brokers import Brokers


class Range(NamedTuple):
    """Offsets from `start` on and before `end`."""

    start: int
    end: int

    @property
    def size(self) -> int:
        """How many offsets these are, whether or not each has a record."""
        return max(0, self.end - self.start)


class Rows(NamedTuple):
    """Rows of one partition, in order of their offsets."""

    partition: int
    batch: pa.RecordBatch


def read_ranges(
    brokers: Brokers, topic: str, ranges: Mapping[int, Range], columns: tuple[str, ...]
) -> Iterator[Rows]:
    """All records of the ranges, each partition's in order, and nothing beyond their ends.

    Only some megabytes are held at a time. Raises `ClientError`: `OffsetOutOfRange` if the log
    begins after a range does, `CorruptRecords` for a batch that cannot be read.
    """
    unfinished = {partition: each for partition, each in ranges.items() if each.size}
    if not unfinished:
        return
    starts = {partition: each.start for partition, each in unfinished.items()}
    with brokers.reading(topic, starts) as reading:
        while unfinished:
            for fetched in reading.next():
                end = unfinished[fetched.partition].end
                yield from _rows(topic, fetched, end, columns)
                if fetched.batches and fetched.batches[-1][1].next_offset >= end:
                    reading.stop(fetched.partition)
                    del unfinished[fetched.partition]


def _rows(topic: str, fetched: Fetched, end: int, columns: tuple[str, ...]) -> Iterator[Rows]:
    wanted = Wanted(topic, fetched.partition, columns, fetched.position, end)
    try:
        decoded = decode(fetched.data, wanted)
    except UnreadableBatch as error:
        raise CorruptRecords(f"{topic}/{fetched.partition}: {error}") from None
    for batch in decoded.rows:
        yield Rows(fetched.partition, batch)
