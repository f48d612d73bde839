"""`spark.readStream.format("riverlog")`: micro-batches, each a range that Spark keeps."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from riverlog.runtime.clock import SystemClock
from riverlog.spark import lookup
from riverlog.spark.arriving import carried
from riverlog.spark.errors import DataLoss
from riverlog.spark.offsets import Mark, Offsets, mark_from_json, mark_to_json
from riverlog.spark.options import SourceOptions
from riverlog.spark.planning import backlog, cut, gone, kept, limited, slices_between
from riverlog.spark.rows import GOES_ON, SliceToRead, read_slice
from riverlog.spark.telling import each_in_a_sentence, in_a_sentence
from riverlog.tables.brokers import Brokers


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc] # pyspark has no types for mypy here
    """Lives in the driver for as long as the query does; copies of it read in the workers.

    Spark's checkpoint alone decides what is read. Offsets are committed to a consumer group as
    well, once a micro-batch is done, so that every tool for Kafka shows how far the query is.
    """

    __reduce__ = carried

    def __init__(self, options: SourceOptions, columns: tuple[str, ...]) -> None:
        self._options = options
        self._columns = columns
        self._connected: Brokers | None = None
        self._clock = SystemClock()
        self._initial: Offsets | None = None
        self._target: Offsets | None = None
        self._available: Offsets | None = None
        self._committed: Offsets | None = None
        self._read_ms: int | None = None

    @in_a_sentence
    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Where a new query begins; the same answer for as long as this reader lives."""
        if self._initial is None:
            ends = lookup.latest(self._brokers, self._options.chosen)
            self._initial = lookup.starts(
                self._brokers,
                self._options.start,
                ends,
                beyond_is_latest=self._options.beyond_is_latest,
            )
        return mark_to_json(Mark(self._initial))

    @in_a_sentence
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Where the next micro-batch ends; `start` itself if there is to be none."""
        mark = mark_from_json(start)
        is_first = mark == Mark(self._initial or {})
        self._available = lookup.still_there(self._brokers, self._options.chosen)
        self._report(gone(mark.offsets, self._available))
        if not is_first:
            self._commit(mark.offsets)
        end = self._target or self._available
        if self._should_wait(mark.offsets, end):
            end = mark.offsets
        elif isinstance(limit, ReadMaxRows):
            end = limited(mark.offsets, end, limit.max_rows)
        if is_first:
            return mark_to_json(Mark(end, initial=mark.offsets))
        return start if end == mark.offsets else mark_to_json(Mark(end))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """How much a micro-batch takes at most: `maxOffsetsPerTrigger`."""
        rows_max = self._options.rows_max
        return ReadAllAvailable() if rows_max is None else ReadMaxRows(rows_max)

    @in_a_sentence
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """What comes after this is left for the next run."""
        self._target = lookup.still_there(self._brokers, self._options.chosen)

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """The ends of the partitions when they were last looked at, for the query's progress."""
        return None if self._available is None else mark_to_json(Mark(self._available))

    @in_a_sentence
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The slices of a micro-batch; the same rows however often Spark asks."""
        options = self._options
        until = mark_from_json(end)
        since = mark_from_json(start).offsets if until.initial is None else until.initial
        ends = lookup.still_there(self._brokers, options.chosen)
        wanted = slices_between(since, until.offsets)
        found = kept(wanted, lookup.begins(self._brokers, ends), ends)
        self._report(found.losses)
        slices = cut(found.slices, options.min_partitions, options.records_per_partition_max)
        return [SliceToRead(piece) for piece in slices]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one slice."""
        return each_in_a_sentence(read_slice(self._options, self._columns, partition))

    @in_a_sentence
    def commit(self, end: dict[str, Any]) -> None:
        """Everything before `end` is done: the group says so."""
        self._commit(mark_from_json(end).offsets)

    def stop(self) -> None:
        """Ends the connections."""
        if self._connected is not None:
            self._connected.close()
            self._connected = None

    @property
    def _brokers(self) -> Brokers:
        # Made on demand: the copies that go to the workers must not have any.
        if self._connected is None:
            self._connected = Brokers(self._options.bootstrap, self._options.settings)
        return self._connected

    def _commit(self, offsets: Offsets) -> None:
        # Spark calls `commit` only when the next micro-batch begins; a query without one would
        # seem to lag for ever. So what it passes as a start counts too.
        if offsets == self._committed:
            return
        there = self._available or lookup.still_there(self._brokers, self._options.chosen)
        reached = {
            topic: {number: at for number, at in numbers.items() if number in there.get(topic, {})}
            for topic, numbers in offsets.items()
        }
        self._brokers.commit(
            self._options.group, {topic: at for topic, at in reached.items() if at}
        )
        self._committed = offsets

    def _report(self, losses: list[str]) -> None:
        if losses and self._options.fails_on_data_loss:
            raise DataLoss(f"records are gone: {losses[0]}; {GOES_ON}")

    def _should_wait(self, start: Offsets, end: Offsets) -> bool:
        """Whether there is too little to read yet; never for longer than `maxTriggerDelay`."""
        rows_min = self._options.rows_min
        now_ms = self._clock.monotonic_ms()
        if (
            rows_min is not None
            and self._target is None
            and self._read_ms is not None
            and now_ms - self._read_ms < self._options.delay_ms_max
            and backlog(start, end) < rows_min
        ):
            return True
        self._read_ms = now_ms
        return False
