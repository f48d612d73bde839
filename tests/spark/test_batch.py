"""`spark.read` and `df.write` with real Spark."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer

import riverlog
from riverlog import NewRecord
from riverlog.records.partitioning import partition_of
from tests.spark.conftest import Read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.client("spark")

NOW_MS = 1_767_225_600_000
IN_ORDER = [("topic", "ascending"), ("partition", "ascending"), ("offset", "ascending")]


@pytest.fixture(scope="module")
def orders(broker: riverlog.Broker) -> str:
    """600 records in three partitions, in compressed batches, with nulls and headers."""
    broker.create_topic("orders", 3)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "compression.type": "zstd"})
    for number in range(600):
        producer.produce(
            "orders",
            value=None if number % 7 == 0 else f"value {number}",
            key=None if number % 5 == 0 else f"key {number}",
            headers=[("n", str(number)), ("none", None)] if number % 3 else None,
            timestamp=NOW_MS + number,
            partition=number % 3,
        )
    assert producer.flush(30) == 0
    return "orders"


def found(frame: Any) -> pa.Table:
    return frame.toArrow().sort_by([by for by in IN_ORDER if by[0] in frame.columns])


def test_a_batch_has_every_row_and_column(load: Read, broker: riverlog.Broker, orders: str) -> None:
    rows = found(load(subscribe=orders, includeHeaders="true", minPartitions="7"))

    expected = riverlog.read_arrow(orders, bootstrap=broker.bootstrap)
    assert rows.num_rows == 600
    assert rows.schema.names == expected.schema.names
    assert rows.to_pylist() == expected.to_pylist()


def test_columns_rows_and_tasks_are_those_asked_for(load: Read, orders: str) -> None:
    ends = '{"orders": {"0": 12, "1": 3, "2": -1}}'
    ranges = load(
        subscribe=orders,
        schema="offset long, partition int",
        startingOffsets='{"orders": {"0": 10, "1": -2, "2": 199}}',
        endingOffsets=ends,
        maxRecordsPerPartition="2",
    )
    times = load(
        assign='{"orders": [1]}',
        schema="timestamp timestamp, headers array<struct<key: string, value: binary>>",
        startingTimestamp=str(NOW_MS + 589),
        endingTimestamp=str(NOW_MS + 595),
    )
    pattern = load(subscribePattern="ord.*s", schema="partition int", endingOffsets="latest")

    assert ranges.rdd.getNumPartitions() == 4
    assert [tuple(row) for row in ranges.orderBy("partition", "offset").collect()] == [
        (10, 0), (11, 0), (0, 1), (1, 1), (2, 1), (199, 2),
    ]  # fmt: skip
    rows = times.collect()
    assert [row.timestamp.replace(tzinfo=UTC) for row in rows] == [
        datetime.fromtimestamp((NOW_MS + number) / 1000, UTC) for number in (589, 592)
    ]
    assert [(each.key, each.value) for each in rows[0].headers] == [("n", b"589"), ("none", None)]
    assert pattern.count() == 600


def test_rows_go_to_the_topics_and_partitions_they_name(
    spark: "SparkSession", broker: riverlog.Broker
) -> None:
    broker.create_topic("bought", 4)
    broker.create_topic("resold", 4)
    headers = "array<struct<key: string, value: binary>>"
    rows = [
        ("bought", "k1", b"v1", [("a", b"1"), ("a", None)], None),
        ("bought", "k2", None, None, None),
        ("resold", None, b"v3", [], 3),
        ("resold", "k4", b"v4", None, 2),
    ]
    frame = spark.createDataFrame(
        rows, f"topic string, key string, value binary, headers {headers}, partition int"
    )

    writer = frame.write.format("riverlog").option("kafka.bootstrap.servers", broker.bootstrap)
    writer.mode("append").save()

    written = [
        record
        for topic in ("bought", "resold")
        for record in riverlog.read_arrow(topic, bootstrap=broker.bootstrap).to_pylist()
    ]
    assert sorted(
        (each["key"] or b"", each["topic"], each["partition"], each["value"]) for each in written
    ) == [
        (b"", "resold", 3, b"v3"),
        (b"k1", "bought", partition_of(b"k1", 4), b"v1"),
        (b"k2", "bought", partition_of(b"k2", 4), None),
        (b"k4", "resold", 2, b"v4"),
    ]
    by_key = {each["key"]: each["headers"] for each in written}
    assert by_key[b"k1"] == [{"key": "a", "value": b"1"}, {"key": "a", "value": None}]
    assert by_key[b"k2"] is None


def test_the_option_topic_beats_the_column(spark: "SparkSession", broker: riverlog.Broker) -> None:
    broker.create_topic("named", 1)
    frame = spark.range(5000).selectExpr("'nowhere' as topic", "cast(id as string) as value")

    frame.write.format("riverlog").mode("append").options(
        **{"kafka.bootstrap.servers": broker.bootstrap, "topic": "named"}
    ).save()

    table = riverlog.read_arrow("named", bootstrap=broker.bootstrap, columns=["value"])
    assert sorted(int(value) for value in table["value"].to_pylist()) == list(range(5000))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"subscribe": "missing"}, "topic missing: unknown topic or partition"),
        ({"subscribe": "orders", "assign": "{}"}, "not subscribe and assign"),
        ({"subscribe": "orders", "startingOfset": "1"}, "is startingOffsets meant?"),
        ({"subscribe": "orders", "startingOffsets": '{"orders": {"0": 1}}'}, "lacks orders/1"),
        (
            {"subscribe": "orders", "startingTimestamp": str(NOW_MS * 2)},
            "no record of the starting",
        ),
        ({"subscribe": "orders", "schema": "vlaue binary"}, "no column 'vlaue': there are key,"),
        ({"subscribe": "orders", "schema": "value string"}, "'value' is binary, not string"),
        (
            {"subscribe": "orders", "endingOffsets": '{"orders": {"0": 9, "1": 9, "2": 201}}'},
            "orders/2 ends at offset 200, and 201 was to be reached; failOnDataLoss=false",
        ),
        (
            {
                "subscribe": "orders",
                "kafka.bootstrap.servers": "127.0.0.1:1",
                "kafka.default.api.timeout.ms": "1000",
            },
            "127.0.0.1:1: connection refused",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    load: Read, orders: str, options: dict[str, str], told: str
) -> None:
    with pytest.raises(Exception) as refused:
        load(**options).collect()

    assert told in str(refused.value)
    assert "brokers.py" not in str(refused.value)


def test_what_cannot_be_written_is_said_in_a_sentence(
    spark: "SparkSession", broker: riverlog.Broker
) -> None:
    def told(select: list[str], mode: str = "append", **options: str) -> str:
        frame = spark.range(1).selectExpr(*select)
        given = {"kafka.bootstrap.servers": broker.bootstrap, **options}
        with pytest.raises(Exception) as refused:
            frame.write.format("riverlog").mode(mode).options(**given).save()
        return str(refused.value)

    assert "a column 'value' is needed" in told(["id as key"], topic="t")
    assert "the option topic or a column 'topic' says" in told(["'v' as value"])
    assert "column 'value' is binary or string, not bigint" in told(["id as value"], topic="t")
    assert "a column 'id' cannot be written" in told(["'v' as value", "id"], topic="t")
    assert "can only be appended to" in told(["'v' as value"], mode="overwrite", topic="t")
    assert "a row has no topic" in told(["'v' as value", "string(null) as topic"])
    assert "topic missing: unknown topic" in told(["'v' as value"], topic="missing")


def test_a_record_is_as_it_was_published(load: Read, broker: riverlog.Broker) -> None:
    broker.create_topic("bytes", 1)
    value = bytes(range(256)) * 4000
    with broker.connect() as client:
        client.publish_batch("bytes", [NewRecord(value, key=b""), NewRecord(b"")]).results()

    rows = load(subscribe="bytes", schema="key binary, value binary").collect()

    assert [(row.key, row.value) for row in rows] == [(b"", value), (None, b"")]
