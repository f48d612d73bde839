"""The topic of an import: which of its rows are there, told by the marks on them."""

import time
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from pyspark import SparkContext

from riverlog.client.settings import ClientSettings
from riverlog.client.sync_client import connect
from riverlog.jobs.errors import JobFailed
from riverlog.jobs.import_marks import RowSet
from riverlog.jobs.on_spark.tasks import run_tasks
from riverlog.jobs.published_rows import Marked, marked_rows, whole_topic
from riverlog.tables.brokers import SETTINGS, Brokers
from riverlog.tables.ranges import Range

OFFSETS_PER_TASK = 1_000_000
# How long nothing may come to a partition before the attempt is over that has left rows there, and
# how often that is waited for, as others may publish too.
SETTLE_S = 1.0
SETTLE_TRIES = 6


class Target(NamedTuple):
    """Where rows go, and what they are marked with."""

    bootstrap: str
    settings: ClientSettings
    topic: str
    import_id: str

    def brokers(self) -> Brokers:
        """For reading what is there."""
        return Brokers(self.bootstrap, SETTINGS._replace(timeout_ms=self.settings.timeout_ms))


def partition_count_of(target: Target) -> int:
    """How many partitions the topic has; it is made if need be and allowed."""
    with connect(target.bootstrap, settings=target.settings) as client:
        client.publish_batch(target.topic, []).results()
        return len(client.topics.describe(target.topic).partitions)


def present_rows(context: SparkContext, target: Target) -> Mapping[str, RowSet]:
    """The rows of this import that the topic has, by file."""
    with target.brokers() as brokers:
        ranges = whole_topic(brokers, target.topic)
    return marked(context, target, ranges).rows


def marked(context: SparkContext, target: Target, ranges: Mapping[int, Range]) -> Marked:
    """The rows of this import that are in ranges of the topic; tasks look for them."""
    slices = [
        (partition, Range(start, min(start + OFFSETS_PER_TASK, whole.end)))
        for partition, whole in ranges.items()
        for start in range(whole.start, whole.end, OFFSETS_PER_TASK)
    ]
    rows: dict[str, RowSet] = {}
    record_count = 0
    work = partial(_marked_in, target)
    for _, _, found in run_tasks(context, "looking for rows", slices, work):
        record_count += found.record_count
        for name, some in found.rows.items():
            rows.setdefault(name, RowSet()).merge(some)
    return Marked(rows, record_count)


def check_doubles(found: Marked, topic: str) -> None:
    """Raises `JobFailed` if a row is there more than once."""
    doubled = found.record_count - sum(rows.count for rows in found.rows.values())
    if doubled:
        raise JobFailed(
            f"{doubled} rows are in {topic} twice: a task went on publishing after Spark had given"
            " up its executor"
        )


def present_since(target: Target, partition: int, start: int) -> Mapping[str, RowSet]:
    """In a worker: the rows that have come to a partition since the import began.

    Spark does not tell tasks whether they were begun before, but the topic does.
    """
    with target.brokers() as brokers:
        end = start
        for _ in range(SETTLE_TRIES):
            reached = brokers.find(target.topic, "latest", [partition])[partition]
            if reached == end:
                break
            # What an attempt had sent when it was killed may be on its way still.
            end = reached
            time.sleep(SETTLE_S)
        since = {partition: Range(start, end)}
        return marked_rows(brokers, target.topic, since, target.import_id).rows


def _marked_in(target: Target, wanted: tuple[int, Range]) -> Marked:
    with target.brokers() as brokers:
        return marked_rows(brokers, target.topic, dict([wanted]), target.import_id)
