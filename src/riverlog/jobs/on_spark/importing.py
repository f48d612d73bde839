"""An import in two steps: tasks read the files, then others publish, one for each partition.

Spark sorts what the first step has read, so that every partition gets its rows in the order of the
files, as an import in one process gives them. Nothing is published before everything was read.

A task that is run again looks for the rows that are in its partition since the import began, by
their marks, and leaves these out.
"""

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pyspark import RDD, SparkContext

from riverlog.client.errors import ClientError
from riverlog.client.outgoing import NewRecord
from riverlog.client.sync_client import connect
from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.import_marks import RowSet, row_of
from riverlog.jobs.importing import Asked, Counts, OnBad, Sending
from riverlog.jobs.on_spark.import_parts import (
    Chunk,
    Part,
    Reading,
    Report,
    chunks_of,
    numbered,
    parts_of,
)
from riverlog.jobs.on_spark.import_target import Target, check_doubles, marked, present_since
from riverlog.jobs.on_spark.tasks import SparkFailed, attempts_max, run_partitions, run_tasks
from riverlog.jobs.row_files import JsonRows, Lines
from riverlog.runtime.clock import SystemClock
from riverlog.tables.brokers import Brokers
from riverlog.tables.ranges import Range

# How often the broker is asked how far it is.
TELL_MS = 500


class Read(NamedTuple):
    """All rows, sorted and waiting on the executors, and what is known of them."""

    chunks: "RDD[Chunk]"
    partition_count: int
    counts: Counts


def read_files(
    context: SparkContext,
    asked: Asked,
    present: Mapping[str, RowSet],
    partition_count: int,
    on_bad: OnBad | None,
    on_bytes: Callable[[int], None],
) -> Read:
    """Reads all files and keeps what is to be published; `partition_count` 0 keeps nothing.

    Raises `JobFailed`, without `on_bad` for the first bad row. `on_bytes` hears how much was read.
    """
    paths = tuple(os.path.abspath(path) for path in asked.paths)
    reading = Reading(
        asked, paths, present, partition_count, on_bad is not None, attempts_max(context)
    )
    read_bytes = context.accumulator(0)
    parts = _parts(context, asked, paths)
    chunks = context.parallelize(parts, len(parts)).mapPartitions(
        partial(chunks_of, reading, read_bytes)
    )
    in_order = chunks.repartitionAndSortWithinPartitions(partition_count + 1, _partition_in)

    def tell() -> None:
        on_bytes(read_bytes.value)

    ((_, _, reports),) = run_partitions(
        context, "reading files", in_order, [partition_count], _reports, tell
    )
    counts = Counts()
    for report in reports:
        if report.failure is not None:
            raise JobFailed(f"{report.failure.message}; no row was published")
        for path, row in report.bad:
            assert on_bad is not None, "bad rows are failures otherwise"
            on_bad(path, row)
        counts = Counts(*(some + more for some, more in zip(counts, report.counts, strict=True)))
    return Read(in_order, partition_count, counts)


def publish(
    context: SparkContext, read: Read, target: Target, on_rows: Callable[[int], None]
) -> None:
    """Publishes all that was read; returns when it is durable, and there once. Raises `JobFailed`.

    `on_rows` hears how many are there.
    """
    if context.getConf().get("spark.speculation", "false") == "true":
        raise JobRefused("an import needs spark.speculation=false: both copies of a task publish")
    if not read.counts.published:
        return
    with target.brokers() as brokers:
        growth = _Growth(brokers, target.topic, read.partition_count)
        work = partial(_publish, target, growth.starts)
        title = f"importing into {target.topic}"
        partitions = range(read.partition_count)
        tell = partial(growth.tell, on_rows)
        try:
            for _ in run_partitions(context, title, read.chunks, partitions, work, tell):
                tell()
            since = growth.since_then()
        except (JobFailed, ClientError) as error:
            told = f"another run adds only the rows that are not in {target.topic}"
            kind = SparkFailed if isinstance(error, SparkFailed) else JobFailed
            raise kind(f"{error}; {told}") from error
    if sum(each.size for each in since.values()) != read.counts.published:
        # Others may have published meanwhile, or a task that Spark had given up for dead.
        check_doubles(marked(context, target, since), target.topic)


class _Growth:
    """What has come to a topic since this was made."""

    def __init__(self, brokers: Brokers, topic: str, partition_count: int) -> None:
        self._brokers = brokers
        self._topic = topic
        self._partitions = list(range(partition_count))
        self._clock = SystemClock()
        self._told_ms = self._clock.monotonic_ms()
        self.starts = brokers.find(topic, "latest", self._partitions)

    def since_then(self) -> dict[int, Range]:
        ends = self._brokers.find(self._topic, "latest", self._partitions)
        return {at: Range(start, ends[at]) for at, start in self.starts.items()}

    def tell(self, on_rows: Callable[[int], None]) -> None:
        """Tells how many records that is, now and then."""
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._told_ms >= TELL_MS:
            self._told_ms = now_ms
            on_rows(sum(each.size for each in self.since_then().values()))


def _parts(context: SparkContext, asked: Asked, paths: Sequence[str]) -> list[Part]:
    """What tasks read; before lines in the middle of a file are read, those above are counted."""
    parts = parts_of(asked)
    cut = [
        (part.number, paths[part.file], part.place)
        for part in parts
        if isinstance(part.place, Lines)
    ]
    counted = run_tasks(context, "counting rows", cut, _count_rows)
    return numbered(parts, dict(result.value for result in counted))


# What follows is done in workers.


def _count_rows(part: tuple[int, str, Lines]) -> tuple[int, int]:
    number, path, lines = part
    rows = JsonRows(path, lines)
    try:
        return number, sum(1 for _ in rows.texts())
    finally:
        rows.close()


def _partition_in(key: tuple[int, int, int]) -> int:
    return key[0]


def _reports(chunks: Iterator[Chunk]) -> list[Report]:
    return [pickle.loads(data) for _, data in chunks]


def _publish(target: Target, starts: Mapping[int, int], chunks: Iterator[Chunk]) -> int:
    """All rows of one partition that are not there by now; durable when it returns."""
    partition: int | None = None
    published = 0
    with connect(target.bootstrap, settings=target.settings) as client:

        def count(more: int) -> None:
            nonlocal published
            published += more

        sending = Sending(client, target.topic, count)
        present: Mapping[str, RowSet] = {}
        for (place, _, _), data in chunks:
            if partition is None:
                partition = place
                present = present_since(target, partition, starts[partition])
            records: list[NewRecord] = pickle.loads(data)
            sending.send(
                [
                    record._replace(partition=partition)
                    for record in records
                    if not _is_in(present, record, target.import_id)
                ]
            )
        sending.settle()
    return published


def _is_in(present: Mapping[str, RowSet], record: NewRecord, import_id: str) -> bool:
    if not present:
        return False
    assert isinstance(record.headers, tuple), "`Shape.record` makes them, the mark last"
    row = row_of(record.headers[-1][1] or b"", import_id)
    return row is not None and row[0] in present and row[1] in present[row[0]]
