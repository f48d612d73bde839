"""What Spark asks of a stream's reader, asked without Spark: it takes milliseconds here."""

import json
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

import riverlog
from riverlog.client.errors import UnknownTopic
from riverlog.spark.errors import DataLoss, InvalidOption
from riverlog.spark.options import source_options
from riverlog.spark.planning import Slice

pytestmark = pytest.mark.client("spark")


class Query:
    """A query's reader in one life of its driver; JSON goes through text, as in a checkpoint."""

    def __init__(self, broker: riverlog.Broker, **options: str) -> None:
        from riverlog.spark.stream_reader import StreamReader

        given = {"kafka.bootstrap.servers": broker.bootstrap, **options}
        parsed = source_options(given, is_streaming=True)
        self.reader = StreamReader(parsed, ("value",))

    def initial(self) -> Any:
        return _through_text(self.reader.initialOffset())

    def latest(self, start: Any) -> Any:
        limit = self.reader.getDefaultReadLimit()
        return _through_text(self.reader.latestOffset(start, limit))

    def slices(self, start: Any, end: Any) -> list[Slice]:
        return [each.value for each in self.reader.partitions(start, end)]

    def __enter__(self) -> "Query":
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.stop()


def _through_text(offset: Any) -> Any:
    return json.loads(json.dumps(offset))


def publish(broker: riverlog.Broker, topic: str, count: int) -> None:
    with broker.connect() as client:
        client.publish_batch(topic, ["v"] * count).results()


def test_where_a_query_began_outlives_its_driver(broker: riverlog.Broker) -> None:
    broker.create_topic("began", 1)
    publish(broker, "began", 3)
    with Query(broker, subscribe="began") as query:
        start = query.initial()
        publish(broker, "began", 5)
        assert query.initial() == start
        end = query.latest(start)
        assert query.slices(start, end) == [Slice("began", 0, 3, 8)]

    with Query(broker, subscribe="began") as query:
        assert query.slices(query.initial(), end) == [Slice("began", 0, 3, 8)]
        assert query.latest(end) == end
        publish(broker, "began", 1)
        assert query.latest(end) == {"began": {"0": 9}}
        assert query.slices(end, {"began": {"0": 9}}) == [Slice("began", 0, 8, 9)]


def test_too_little_waits_but_not_for_ever(broker: riverlog.Broker) -> None:
    broker.create_topic("little", 1)
    options = {"subscribe": "little", "startingOffsets": "earliest", "minOffsetsPerTrigger": "3"}
    with (
        Query(broker, **options) as patient,
        Query(broker, **options, maxTriggerDelay="0") as other,
    ):
        start = patient.latest(patient.initial())
        assert other.latest(other.initial()) == start
        publish(broker, "little", 2)

        assert patient.latest(start) == start
        assert other.latest(start) == {"little": {"0": 2}}
        publish(broker, "little", 1)
        assert patient.latest(start) == {"little": {"0": 3}}


def test_what_comes_after_available_now_is_left_for_the_next_run(broker: riverlog.Broker) -> None:
    broker.create_topic("now", 1)
    publish(broker, "now", 2)
    with Query(broker, subscribe="now", startingOffsets="earliest") as query:
        query.reader.prepareForTriggerAvailableNow()
        publish(broker, "now", 2)
        end = query.latest(query.initial())

        assert end["now"] == {"0": 2}
        assert query.latest(end) == end
        assert query.reader.reportLatestOffset() == {"now": {"0": 4}}


@pytest.mark.parametrize(
    "choice", [{"subscribe": "gone,stays"}, {"subscribePattern": "gone|stays"}]
)
def test_a_topic_that_is_deleted_is_a_loss(broker: riverlog.Broker, choice: dict[str, str]) -> None:
    with broker.connect() as client:
        for topic in ("gone", "stays"):
            if topic not in [view.name for view in client.topics.list()]:
                client.topics.create(topic, partitions=1)
        client.publish("gone", "v")
        with (
            Query(broker, **choice, startingOffsets="earliest") as strict,
            Query(broker, **choice, startingOffsets="earliest", failOnDataLoss="false") as lenient,
        ):
            end = strict.latest(strict.initial())
            assert lenient.latest(lenient.initial()) == end
            client.topics.delete("gone")

            with pytest.raises(DataLoss, match="gone/0 does not exist any more; failOnDataLoss"):
                strict.latest(end)
            assert set(lenient.latest(end)) == {"stays"}
            assert lenient.slices({"gone": {"0": 0}}, end) == []


def test_a_time_that_no_record_has_reached_is_the_latest_if_one_says_so(
    broker: riverlog.Broker,
) -> None:
    broker.create_topic("times", 1)
    publish(broker, "times", 4)
    options = {"subscribe": "times", "startingTimestamp": str(2**50)}

    with Query(broker, **options, startingOffsetsByTimestampStrategy="latest") as query:
        assert query.initial() == {"times": {"0": 4}}


def test_a_topic_that_never_was_is_unknown(broker: riverlog.Broker) -> None:
    with (
        Query(broker, subscribe="never") as query,
        pytest.raises(UnknownTopic, match="topic never: unknown topic or partition"),
    ):
        query.initial()
    with (
        Query(broker, assign='{"never": [0]}') as query,
        pytest.raises(UnknownTopic, match="topic never"),
    ):
        query.initial()


def test_a_task_finds_its_records_deleted(broker: riverlog.Broker) -> None:
    from riverlog.spark.rows import SliceToRead, read_slice

    broker.create_topic("shrinks", 1)
    publish(broker, "shrinks", 9)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for deleted in admin.delete_records([TopicPartition("shrinks", 0, 6)]).values():
        deleted.result(10)

    def read(start: int, end: int, **options: str) -> list[int]:
        given = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": "shrinks", **options}
        parsed = source_options(given, is_streaming=True)
        task = SliceToRead(Slice("shrinks", 0, start, end))
        rows = read_slice(parsed, ("offset",), task)
        return [offset for batch in rows for offset in batch["offset"].to_pylist()]

    with pytest.raises(DataLoss, match="gone: shrinks/0 at offset 2: offset out of range"):
        read(2, 8)
    assert read(2, 8, failOnDataLoss="false") == [6, 7]
    assert read(2, 5, failOnDataLoss="false") == []
    assert read(20, 25, failOnDataLoss="false") == []
    assert read(6, 9) == [6, 7, 8]


def test_a_stream_asked_for_wrongly_says_so_when_it_is_read(broker: riverlog.Broker) -> None:
    from pyspark.sql.types import StructType

    from riverlog.spark.refused_stream import RefusedStream
    from riverlog.spark.source import RiverlogSource

    given = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "subscribe": "a",
        "endingOffsets": "latest",
    }
    reader = RiverlogSource(given).streamReader(StructType())
    assert isinstance(reader, RefusedStream)

    for call in (reader.initialOffset, reader.latestOffset, lambda: reader.partitions({}, {})):
        with pytest.raises(InvalidOption, match="endingOffsets is for batch queries"):
            call()
