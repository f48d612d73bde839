"""The same program on Riverlog and on Apache Kafka: the same rows, steps, offsets and errors."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

import riverlog
from riverlog import NewRecord
from tests.conformance.apache_kafka.kafka_node import node_of_run
from tests.spark.test_stream import committed, refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.client("spark"), pytest.mark.client("apache-kafka")]

# Old records would be deleted while the test runs.
NOW_MS = time.time_ns() // 1_000_000
FINISH_S_MAX = 120
GROUP = "spark-on-kafka"
BY_PLACE = [("partition", "ascending"), ("offset", "ascending")]


class Told(NamedTuple):
    """What a program gets to see of a broker."""

    rows: list[dict[str, Any]]
    steps: list[int]
    written: list[tuple[Any, ...]]
    offsets: dict[tuple[str, int], int]
    errors: list[str]


@pytest.fixture(scope="module")
def apache_kafka(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[str]:
    with node_of_run(tmp_path_factory, request) as node:
        yield f"{node.host}:{node.port}"


def program(spark: "SparkSession", bootstrap: str, checkpoint: Path) -> Told:
    """Reads a topic as a batch, copies it as a stream, and reads what is gone or never was."""
    source = {"kafka.bootstrap.servers": bootstrap, "startingOffsets": "earliest"}
    with riverlog.connect(bootstrap) as client:
        for topic in ("spark-in", "spark-out"):
            client.topics.create(topic, partitions=3)
        client.publish_batch("spark-in", records()).results()

    def load(topic: str) -> Any:
        return spark.read.format("riverlog").options(**source, subscribe=topic).load()

    batch = spark.read.format("riverlog").options(**source, subscribe="spark-in")
    rows = batch.option("includeHeaders", "true").load().toArrow().sort_by(BY_PLACE).to_pylist()
    stream = spark.readStream.format("riverlog").options(**source, subscribe="spark-in")
    stream = stream.option("kafka.group.id", GROUP).option("maxOffsetsPerTrigger", "200")
    frame = stream.option("includeHeaders", "true").load().select("key", "value", "headers")
    writer = frame.writeStream.format("riverlog").option("kafka.bootstrap.servers", bootstrap)
    writer = writer.option("topic", "spark-out").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(FINISH_S_MAX)
    written = riverlog.read_arrow("spark-out", bootstrap=bootstrap).to_pylist()

    admin = AdminClient({"bootstrap.servers": bootstrap})
    for deleted in admin.delete_records([TopicPartition("spark-in", 0, 7)]).values():
        deleted.result(10)
    begin = '{"spark-in": {"0": 3, "1": -2, "2": -2}}'
    gone = batch.option("startingOffsets", begin).load()
    return Told(
        rows,
        [each["numInputRows"] for each in query.recentProgress],
        sorted(
            (row["key"] or b"", row["value"] or b"", str(row["headers"]), row["partition"])
            for row in written
            # Rows without a key go wherever the client likes.
            if row["key"] is not None
        ),
        committed(bootstrap, GROUP),
        [
            last_sentence(refusal(gone.collect)),
            last_sentence(refusal(load("spark-missing").collect)),
        ],
    )


def records() -> list[NewRecord]:
    return [
        NewRecord(
            value=None if number % 7 == 0 else f"value {number}",
            key=None if number % 5 == 0 else f"key {number}",
            headers=[("n", str(number)), ("none", None)] if number % 3 else None,
            timestamp_ms=NOW_MS + number,
            partition=number % 3,
        )
        for number in range(600)
    ]


def last_sentence(error: str) -> str:
    return error.replace("SQLSTATE: 38000", "").strip().splitlines()[-1]


def test_apache_kafka_gives_the_same_as_riverlog(
    spark: "SparkSession", broker: riverlog.Broker, apache_kafka: str, tmp_path: Path
) -> None:
    theirs = program(spark, apache_kafka, tmp_path / "theirs")
    ours = program(spark, broker.bootstrap, tmp_path / "ours")

    assert theirs == ours
    assert len(theirs.rows) == 600
    assert sum(theirs.steps) == 600
    assert len(theirs.written) == 480
    assert theirs.offsets == {("spark-in", partition): 200 for partition in range(3)}
    assert "spark-in/0 begins at offset 7, and 3 was to be read" in theirs.errors[0]
    assert "topic spark-missing: unknown topic or partition" in theirs.errors[1]
