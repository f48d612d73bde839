"""What came out: the topics read through the client, the table read as Parquet, without Spark."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
from examples.pipeline.expected import Total

import riverlog

_LOG = "_spark_metadata"


class Found(NamedTuple):
    """What is in the table, and in the topics that are not the orders.

    Attributes:
        customers: How many customers there are in their topic.
        windows: Totals by when a window begins and segment.
        windows_twice: Rows of the table for a window and segment that it had already.
        alerts: Cents by order, and `alerts_again` those that Spark sent more than once.
        dead_letters: Reasons by place, and `dead_letters_again` in the same way.
    """

    customers: int
    windows: dict[tuple[int, str], Total]
    windows_twice: int
    alerts: dict[str, int]
    alerts_again: int
    dead_letters: dict[str, str]
    dead_letters_again: int


def found_results(bootstrap: str, table: Path) -> Found:
    """Reads everything there is."""
    rows = _table_rows(table)
    windows = {
        (row["start"], row["segment"]): Total(row["orders"], row["items"], row["revenue_cents"])
        for row in rows
    }
    alerts = _headers(bootstrap, "alerts")
    bad = _headers(bootstrap, "dead-letters")
    cents = {headers["order"]: json.loads(value)["total_cents"] for headers, value in alerts}
    reasons = {headers["place"]: headers["reason"] for headers, _ in bad}
    return Found(
        customers=riverlog.read_arrow("customers", bootstrap=bootstrap, columns=["key"]).num_rows,
        windows=windows,
        windows_twice=len(rows) - len(windows),
        alerts=cents,
        alerts_again=len(alerts) - len(cents),
        dead_letters=reasons,
        dead_letters_again=len(bad) - len(reasons),
    )


def logged_orders(bootstrap: str, partition: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Key, value and time (in milliseconds) of each record of the orders, by offset."""
    columns = ["key", "value", "timestamp"]
    for batch in riverlog.read_arrow_batches(
        "orders", bootstrap=bootstrap, partitions=[partition], columns=columns
    ):
        times_ms = batch["timestamp"].cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
        yield from zip(
            batch["key"].to_pylist(), batch["value"].to_pylist(), times_ms.to_pylist(), strict=True
        )


def _headers(bootstrap: str, topic: str) -> list[tuple[dict[str, str], bytes]]:
    """The headers and the value of every record."""
    table = riverlog.read_arrow(topic, bootstrap=bootstrap, columns=["headers", "value"])
    return [
        ({each["key"]: each["value"].decode() for each in headers}, value)
        for headers, value in zip(
            table["headers"].to_pylist(), table["value"].to_pylist(), strict=True
        )
    ]


def _table_rows(table: Path) -> list[dict[str, Any]]:
    """Rows of the files that Spark has committed.

    A driver that is killed leaves files that are in no commit: they are no part of the table.
    """
    rows: list[dict[str, Any]] = []
    for path in committed_files(table):
        part = pq.read_table(path)
        starts = part["start"].cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
        rows += part.set_column(part.schema.get_field_index("start"), "start", starts).to_pylist()
    return rows


def committed_files(table: Path) -> list[Path]:
    """The files of a table that was written by a stream, by its log of commits."""
    files: dict[str, None] = {}
    for commit in sorted((table / _LOG).glob("[0-9]*"), key=_number):
        for line in commit.read_text().splitlines()[1:]:
            files[json.loads(line)["path"]] = None
    return [Path(unquote(urlparse(path).path)) for path in files]


def _number(commit: Path) -> int:
    return int(commit.name.partition(".")[0])
