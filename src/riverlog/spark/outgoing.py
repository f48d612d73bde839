"""Rows of a DataFrame as records to publish."""

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import pyarrow as pa

from riverlog.client.outgoing import NewRecord
from riverlog.spark.errors import InvalidOption


def records_by_topic(topic: str | None, batch: pa.RecordBatch) -> dict[str, list[NewRecord]]:
    """Rows as records, by the topic they go to: the one given, or else what each row says.

    Raises `InvalidOption` for a row that says nothing.
    """
    names = _column(batch, "topic") if topic is None else repeat(topic, batch.num_rows)
    found: dict[str, list[NewRecord]] = {}
    for name, value, key, headers, partition in zip(
        names,
        _column(batch, "value"),
        _column(batch, "key"),
        _column(batch, "headers"),
        _column(batch, "partition"),
        strict=True,
    ):
        if name is None:
            raise InvalidOption("a row has no topic, and the option topic is not set")
        # Pairs, as a name may be there twice.
        pairs = [(each["key"], each["value"]) for each in headers] if headers else None
        record = NewRecord(value, key, pairs, partition=partition)
        found.setdefault(name, []).append(record)
    return found


def _column(batch: pa.RecordBatch, name: str) -> Iterable[Any]:  # the schema was checked
    """The values of a column, nothing but nulls if it is not there."""
    if name not in batch.schema.names:
        return repeat(None, batch.num_rows)
    values: list[Any] = batch.column(name).to_pylist()
    return values
