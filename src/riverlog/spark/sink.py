"""Rows into topics: idempotent, durable before a task ends, at least once.

What a task sends is in the log once, however often the client has to try. But Spark runs a task
or a micro-batch again when something fails, and then its rows are there twice.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from riverlog.client.sync_client import Client, connect
from riverlog.client.sync_publishing import SyncPublishing
from riverlog.spark.arriving import carried
from riverlog.spark.options import SinkOptions
from riverlog.spark.outgoing import records_by_topic
from riverlog.spark.telling import in_a_sentence


class BatchWriter(DataSourceArrowWriter):  # type: ignore[misc] # pyspark has no types for mypy here
    """`df.write`; Spark sends copies of it to the workers."""

    __reduce__ = carried

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """All rows of a task; durable when it returns."""
        publish(self._options, iterator)
        return WriterCommitMessage()


class StreamWriter(DataSourceStreamArrowWriter):  # type: ignore[misc] # pyspark has no types for mypy here
    """`df.writeStream`; Spark sends copies of it to the workers."""

    __reduce__ = carried

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """All rows of a task; durable when it returns."""
        publish(self._options, iterator)
        return WriterCommitMessage()


@in_a_sentence
def publish(options: SinkOptions, batches: Iterator[pa.RecordBatch]) -> None:
    """Returns when all rows are durable; two batches of rows are under way at most."""
    client: Client | None = None
    under_way: list[SyncPublishing] = []
    try:
        for batch in batches:
            # A task without rows, and there are many, connects to nobody.
            client = client or connect(options.bootstrap, settings=options.settings)
            earlier = under_way
            under_way = [
                client.publish_batch(topic, records)
                for topic, records in records_by_topic(options.topic, batch).items()
            ]
            _finish(earlier)
        _finish(under_way)
    finally:
        if client is not None:
            client.close()


def _finish(published: list[SyncPublishing]) -> None:
    for publishing in published:
        publishing.results()
