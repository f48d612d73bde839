"""The same program with `format("kafka")`, Spark's own connector, and with ours: the same rows."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import riverlog
from riverlog import NewRecord

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.client("spark"), pytest.mark.client("spark-jvm-connector")]

NOW_MS = 1_767_225_600_000
FORMATS = ("kafka", "riverlog")
FINISH_S_MAX = 120


@pytest.fixture(scope="module")
def topic(broker: riverlog.Broker) -> str:
    """A topic with three partitions; a record every second."""
    broker.create_topic("compared", 3)
    records = [
        NewRecord(
            value=None if number % 7 == 0 else f"value {number}",
            key=None if number % 5 == 0 else f"key {number}",
            headers=[("n", str(number)), ("none", None)] if number % 3 else None,
            timestamp_ms=NOW_MS + number * 1000,
            partition=number % 3,
        )
        for number in range(600)
    ]
    with broker.connect(compression="lz4") as client:
        client.publish_batch("compared", records).results()
    return "compared"


@pytest.mark.parametrize(
    ("count", "options"),
    [
        (600, {"subscribe": "compared", "includeHeaders": "true", "minPartitions": "7"}),
        (
            8,
            {
                "assign": '{"compared": [1]}',
                "startingOffsets": '{"compared": {"1": 5}}',
                "endingOffsets": '{"compared": {"1": 13}}',
            },
        ),
        (
            101,
            {
                "subscribePattern": "comp.*d",
                "startingTimestamp": str(NOW_MS + 99_500),
                "endingOffsetsByTimestamp": json.dumps(
                    {"compared": dict.fromkeys("012", NOW_MS + 200_500)}
                ),
            },
        ),
    ],
)
def test_a_batch_gives_the_same_rows_and_schema(
    spark: "SparkSession",
    broker: riverlog.Broker,
    topic: str,
    count: int,
    options: dict[str, str],
) -> None:
    theirs, ours = (
        spark.read.format(name)
        .option("kafka.bootstrap.servers", broker.bootstrap)
        .options(**options)
        .load()
        for name in FORMATS
    )

    assert ours.schema == theirs.schema
    by_place = [("partition", "ascending"), ("offset", "ascending")]
    rows = ours.toArrow().sort_by(by_place)
    assert rows.num_rows == count
    assert rows.to_pylist() == theirs.toArrow().sort_by(by_place).to_pylist()


def test_a_stream_takes_the_same_steps(
    spark: "SparkSession", broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    def steps(name: str) -> list[tuple[int, Any]]:
        options = {
            "kafka.bootstrap.servers": broker.bootstrap,
            "subscribe": topic,
            "startingOffsets": '{"compared": {"0": 5, "1": 150, "2": -1}}',
            "maxOffsetsPerTrigger": "100",
        }
        writer = spark.readStream.format(name).options(**options).load().writeStream
        writer = writer.format("noop").option("checkpointLocation", str(tmp_path / name))
        query = writer.trigger(availableNow=True).start()
        assert query.awaitTermination(FINISH_S_MAX)
        return [
            (each["numInputRows"], _without_our_mark(each["sources"][0]["endOffset"]))
            for each in query.recentProgress
        ]

    theirs, ours = map(steps, FORMATS)

    assert [rows for rows, _ in theirs] == [99, 99, 47]
    assert ours == theirs


def test_keys_go_to_the_same_partitions(spark: "SparkSession", broker: riverlog.Broker) -> None:
    frame = spark.range(300).selectExpr("string(id) as key", "string(id) as value")

    for name in FORMATS:
        broker.create_topic(f"written-by-{name}", 5)
        writer = frame.write.format(name).mode("append")
        writer = writer.option("kafka.bootstrap.servers", broker.bootstrap)
        writer.option("topic", f"written-by-{name}").save()

    theirs, ours = (
        {
            (row["key"], row["value"], row["partition"])
            for row in riverlog.read_arrow(topic, bootstrap=broker.bootstrap).to_pylist()
        }
        for topic in ("written-by-kafka", "written-by-riverlog")
    )
    assert len(theirs) == 300
    assert ours == theirs


def _without_our_mark(offset: str) -> Any:
    found = json.loads(offset) if isinstance(offset, str) else dict(offset)
    found.pop(":initial", None)
    return found
