"""Which rows and columns of a partition are wanted, and what every column is."""

from typing import NamedTuple

import pyarrow as pa

INT64_MAX = 2**63 - 1

HEADERS_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

# The columns of Spark's own Kafka source, in its order.
SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestampType", pa.int32()),
        ("headers", HEADERS_TYPE),
    ]
)
COLUMNS = tuple(SCHEMA.names)


class UnknownColumn(ValueError):
    """There is no such column; the message names those there are."""


class Wanted(NamedTuple):
    """Rows with offsets from `start_offset` on and before `end_offset`, of one partition."""

    topic: str
    partition: int
    columns: tuple[str, ...] = COLUMNS
    start_offset: int = 0
    end_offset: int = INT64_MAX

    @property
    def schema(self) -> pa.Schema:
        """That of every batch of rows; raises `UnknownColumn`."""
        unknown = [name for name in self.columns if name not in COLUMNS]
        if unknown:
            raise UnknownColumn(f"no column '{unknown[0]}': there are {', '.join(COLUMNS)}")
        return pa.schema([SCHEMA.field(name) for name in self.columns])


def constants(wanted: Wanted, rows: int) -> dict[str, pa.Array]:
    """The columns that are the same in every row."""
    return {
        "topic": pa.repeat(pa.scalar(wanted.topic, pa.string()), rows),
        "partition": pa.repeat(pa.scalar(wanted.partition, pa.int32()), rows),
    }
