"""`riverlog.read_arrow`: a topic as a pyarrow Table, or as a stream of record batches."""

from collections.abc import Iterator, Sequence
from typing import TypedDict, Unpack

try:
    import pyarrow as pa
except ModuleNotFoundError:
    raise ImportError(
        "reading a topic as a table needs pyarrow: pip install riverlog[arrow]", name="pyarrow"
    ) from None

from riverlog.client.errors import InvalidArgument
from riverlog.client.offsets import Place
from riverlog.kernel.wanted import COLUMNS, UnknownColumn, Wanted
from riverlog.tables.brokers import Brokers
from riverlog.tables.ranges import Range, Rows, read_ranges


class TableOptions(TypedDict, total=False):
    """How much of a topic to read.

    Attributes:
        start: "earliest" (the default), "latest", an offset, a negative number for the last so
            many of each partition, an offset for each partition, or an aware time.
        end: The same, for the first that is left out; "latest" unless given. What is published
            after the call began is never read.
        partitions: Those to read; all of them if not given.
        columns: Those to make, in this order; all of key, value, topic, partition, offset,
            timestamp, timestampType and headers if not given. What is left out costs nothing.
    """

    start: Place
    end: Place
    partitions: Sequence[int] | None
    columns: Sequence[str] | None


def read_arrow(topic: str, *, bootstrap: str, **options: Unpack[TableOptions]) -> pa.Table:
    """The records of a topic as a table, in order of partition and offset.

    `bootstrap` is where the brokers are, "host:port[,host:port]"; `TableOptions` says what else
    there is to choose. Raises `riverlog.client.errors.ClientError` with a sentence that says why.
    """
    schema = _schema(topic, options)
    by_partition: dict[int, list[pa.RecordBatch]] = {}
    for rows in _rows(topic, bootstrap, _ranges(topic, bootstrap, options), schema):
        by_partition.setdefault(rows.partition, []).append(rows.batch)
    batches = [batch for partition in sorted(by_partition) for batch in by_partition[partition]]
    return pa.Table.from_batches(batches, schema=schema)


def read_arrow_batches(
    topic: str, *, bootstrap: str, **options: Unpack[TableOptions]
) -> pa.RecordBatchReader:
    """The same as a stream, for topics larger than memory: a few tens of megabytes are held.

    Rows of different partitions are mixed, those of one partition are in order. DuckDB, Polars
    and whatever else takes Arrow's streams can read from it.
    """
    schema = _schema(topic, options)
    found = _rows(topic, bootstrap, _ranges(topic, bootstrap, options), schema)
    return pa.RecordBatchReader.from_batches(schema, (rows.batch for rows in found))


def _schema(topic: str, options: TableOptions) -> pa.Schema:
    chosen = options.get("columns")
    if chosen is not None and not chosen:
        raise InvalidArgument("a table has at least one column")
    try:
        return Wanted(topic, 0, COLUMNS if chosen is None else tuple(chosen)).schema
    except UnknownColumn as error:
        raise InvalidArgument(str(error)) from None


def _ranges(topic: str, bootstrap: str, options: TableOptions) -> dict[int, Range]:
    """What is to be read, fixed now: whoever takes the rows later gets no others."""
    partitions = options.get("partitions")
    chosen = None if partitions is None else list(partitions)
    end = options.get("end", "latest")
    with Brokers(bootstrap) as brokers:
        starts = brokers.find(topic, options.get("start", "earliest"), chosen)
        ends = brokers.find(topic, "latest", list(starts))
        if end != "latest":
            asked = brokers.find(topic, end, list(starts))
            ends = {partition: min(asked[partition], ends[partition]) for partition in asked}
    return {partition: Range(starts[partition], ends[partition]) for partition in ends}


def _rows(
    topic: str, bootstrap: str, ranges: dict[int, Range], schema: pa.Schema
) -> Iterator[Rows]:
    with Brokers(bootstrap) as brokers:
        yield from read_ranges(brokers, topic, ranges, tuple(schema.names))
