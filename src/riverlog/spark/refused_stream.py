"""A stream that was asked for wrongly, and says so when Spark begins to read it."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from riverlog.spark.errors import InvalidOption


class RefusedStream(DataSourceStreamReader):  # type: ignore[misc] # pyspark has no types for mypy here
    """Instead of an error from `streamReader`, which Spark buries under one of its own."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """What a new query asks for first."""
        raise InvalidOption(self._reason)

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """What a query with a checkpoint asks for first."""
        raise InvalidOption(self._reason)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """What a query asks for first that was ended in the middle of a micro-batch."""
        raise InvalidOption(self._reason)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Never called: there are no partitions."""
        raise InvalidOption(self._reason)
