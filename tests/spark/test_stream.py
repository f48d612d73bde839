"""`spark.readStream` and `df.writeStream` with real Spark: every row once, through restarts."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

import riverlog
from riverlog import NewRecord
from tests.spark.conftest import Read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

pytestmark = pytest.mark.client("spark")

FINISH_S_MAX = 120


def publish(broker: riverlog.Broker, topic: str, values: range, partitions: int) -> None:
    """Numbers as values, dealt out to the partitions in turn."""
    records = [NewRecord(str(number), partition=number % partitions) for number in values]
    with broker.connect() as client:
        client.publish_batch(topic, records).results()


def committed(bootstrap: str, group: str) -> dict[tuple[str, int], int]:
    """How far a group is, as any tool for Kafka sees it."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    found: Sequence[TopicPartition] = asked[group].result(10).topic_partitions
    return {(each.topic, each.partition): each.offset for each in found}


class Seen:
    """The values of every micro-batch of a query; `fail` makes it fail like a sink that broke."""

    def __init__(self, directory: Path) -> None:
        self.checkpoint = str(directory / "checkpoint")
        self.batches: list[list[int]] = []
        self.fails = False

    @property
    def values(self) -> list[int]:
        return sorted(value for batch in self.batches for value in batch)

    def run(self, frame: "DataFrame") -> "StreamingQuery":
        """What is there now, in as many micro-batches as it takes."""
        writer = frame.selectExpr("int(string(value)) as n").writeStream.foreachBatch(self._take)
        writer = writer.option("checkpointLocation", self.checkpoint)
        query = writer.trigger(availableNow=True).start()
        assert query.awaitTermination(FINISH_S_MAX), "the query does not end"
        return query

    def _take(self, frame: "DataFrame", _: int) -> None:
        if self.fails:
            raise RuntimeError("the sink broke")
        self.batches.append([row.n for row in frame.collect()])


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def refusal(run: Callable[[], object]) -> str:
    with pytest.raises(Exception) as refused:
        run()
    return str(refused.value)


def test_a_restart_goes_on_where_it_left_off_and_finds_new_partitions(
    load: Read, broker: riverlog.Broker, seen: Seen
) -> None:
    broker.create_topic("grows", 2)
    publish(broker, "grows", range(10), 2)
    options: dict[str, Any] = {
        "stream": True,
        "subscribe": "grows",
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "4",
        "kafka.group.id": "grows-in-spark",
    }

    query = seen.run(load(**options))

    assert [len(batch) for batch in seen.batches] == [4, 4, 2]
    assert seen.values == list(range(10))
    latest = query.lastProgress["sources"][0]["latestOffset"]
    assert latest.replace(" ", "") == '{"grows":{"0":5,"1":5}}'
    assert committed(broker.bootstrap, "grows-in-spark") == {("grows", 0): 5, ("grows", 1): 5}

    with broker.connect() as client:
        client.topics.add_partitions("grows", 3)
    publish(broker, "grows", range(10, 16), 3)
    seen.run(load(**{**options, "maxOffsetsPerTrigger": "100"}))

    assert len(seen.batches) == 4
    assert seen.values == list(range(16))
    assert committed(broker.bootstrap, "grows-in-spark")["grows", 2] == 2


def test_the_latest_stays_the_same_when_the_first_batch_runs_again(
    load: Read, broker: riverlog.Broker, seen: Seen
) -> None:
    broker.create_topic("late", 1)
    publish(broker, "late", range(3), 1)
    frame = load(stream=True, subscribe="late", startingOffsets="latest")
    seen.fails = True
    assert "the sink broke" in refusal(lambda: seen.run(frame))

    publish(broker, "late", range(3, 8), 1)
    seen.fails = False
    seen.run(load(stream=True, subscribe="late", startingOffsets="latest"))

    assert seen.values == [3, 4, 5, 6, 7]


def test_lost_records_end_a_query_unless_it_may_go_on(
    load: Read, broker: riverlog.Broker, seen: Seen
) -> None:
    broker.create_topic("fades", 1)
    publish(broker, "fades", range(4), 1)
    options: dict[str, Any] = {"stream": True, "subscribe": "fades", "startingOffsets": "earliest"}
    seen.run(load(**options))
    publish(broker, "fades", range(4, 10), 1)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for deleted in admin.delete_records([TopicPartition("fades", 0, 7)]).values():
        deleted.result(10)

    told = refusal(lambda: seen.run(load(**options)))
    seen.run(load(**options, failOnDataLoss="false"))

    assert "fades/0 begins at offset 7, and 4 was to be read; failOnDataLoss=false" in told
    assert seen.values == [0, 1, 2, 3, 7, 8, 9]


def test_a_stream_goes_into_a_topic(load: Read, broker: riverlog.Broker, tmp_path: Path) -> None:
    broker.create_topic("raw", 2)
    broker.create_topic("clean", 2)
    publish(broker, "raw", range(2000), 2)
    frame = load(stream=True, subscribe="raw", startingOffsets="earliest", includeHeaders="true")

    writer = frame.selectExpr("value", "string(offset) as key", "headers").writeStream
    writer = writer.format("riverlog").option("kafka.bootstrap.servers", broker.bootstrap)
    writer = writer.option("topic", "clean").option("checkpointLocation", str(tmp_path / "c"))
    query = writer.trigger(availableNow=True).start()

    assert query.awaitTermination(FINISH_S_MAX)
    table = riverlog.read_arrow("clean", bootstrap=broker.bootstrap, columns=["key", "value"])
    assert sorted(int(value) for value in table["value"].to_pylist()) == list(range(2000))
    assert sorted(int(key) for key in table["key"].to_pylist()) == sorted([*range(1000)] * 2)


def test_a_stream_asked_for_wrongly_is_refused_in_a_sentence(load: Read, seen: Seen) -> None:
    given = {"stream": True, "subscribe": "raw"}

    unknown = refusal(lambda: load(**given, startingOfset="1"))
    ending = refusal(lambda: seen.run(load(**given, endingOffsets="latest")))
    column = refusal(lambda: seen.run(load(**given, schema="value binary, vlaue binary")))
    missing = refusal(lambda: seen.run(load(stream=True, subscribe="missing")))

    assert "InvalidOption: startingofset is no option of a source; is startingOffsets" in unknown
    assert "InvalidOption: endingOffsets is for batch queries: a stream does not end" in ending
    assert "InvalidOption: no column 'vlaue': there are key, value, topic" in column
    assert "UnknownTopic: topic missing: unknown topic or partition" in missing
    for told in (unknown, ending, column, missing):
        assert "another exception" not in told


def test_a_group_with_members_is_left_to_them(
    load: Read, broker: riverlog.Broker, seen: Seen
) -> None:
    broker.create_topic("shared", 1)
    publish(broker, "shared", range(3), 1)
    options = {"subscribe": "shared", "startingOffsets": "earliest", "kafka.group.id": "theirs"}

    with broker.connect() as client:
        subscription = client.subscribe("shared", group="theirs", start="earliest")
        assert next(iter(subscription)).offset == 0
        told = refusal(lambda: seen.run(load(stream=True, **options)))
        subscription.close()

    assert "group theirs has members of its own; take another group" in told
