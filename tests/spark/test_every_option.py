"""Every option of Spark's own Kafka source and sink, and what it does to what is read or written.

Asked of the readers and writers without Spark, on a real broker: it takes milliseconds here.
"""

import socket
import time
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

import riverlog
from riverlog import NewRecord
from riverlog.client.errors import ClientError
from riverlog.spark import client_options
from riverlog.spark.client_options import client_settings
from riverlog.spark.errors import DataLoss, InvalidOption
from riverlog.spark.options import READING, WRITING, sink_options, source_options
from riverlog.tables.brokers import SETTINGS
from tests.spark.test_stream_reader import Query

pytestmark = pytest.mark.client("spark")

Show = Callable[[riverlog.Broker], None]
SHOWN: dict[str, Show] = {}

# The records of `sold` are a millisecond apart: ten in partition 0, then five in partition 1.
NOW_MS = 1_767_225_600_000
ALL = [(0, offset) for offset in range(10)] + [(1, offset) for offset in range(5)]
SOLD = {"subscribe": "sold"}


def each(first: int, second: int) -> str:
    """A number for each partition, as the options have it."""
    return f'{{"sold": {{"0": {first}, "1": {second}}}}}'


def shows(*options: str) -> Callable[[Show], Show]:
    def kept(show: Show) -> Show:
        SHOWN.update(dict.fromkeys(options, show))
        return show

    return kept


@pytest.fixture(scope="session")
def sold(broker: riverlog.Broker) -> riverlog.Broker:
    broker.create_topic("sold", 2)
    records = [
        NewRecord("v", headers=[("h", "1")], timestamp_ms=NOW_MS + number, partition=number // 10)
        for number in range(15)
    ]
    with broker.connect() as client:
        client.publish_batch("sold", records).results()
    return broker


def batch(broker: riverlog.Broker, **options: str) -> Any:
    from riverlog.spark.batch_reader import BatchReader

    given = {"kafka.bootstrap.servers": broker.bootstrap, **options}
    return BatchReader(source_options(given, is_streaming=False), ("partition", "offset"))


def rows(broker: riverlog.Broker, **options: str) -> list[tuple[int, int]]:
    """Partition and offset of all that a batch reads."""
    reader = batch(broker, **options)
    tables: Iterable[pa.RecordBatch] = chain.from_iterable(map(reader.read, reader.partitions()))
    return sorted(
        (row["partition"], row["offset"]) for table in tables for row in table.to_pylist()
    )


@shows("subscribe", "subscribePattern", "assign")
def which(broker: riverlog.Broker) -> None:
    assert rows(broker, subscribe="sold") == rows(broker, subscribePattern="so.d") == ALL
    assert rows(broker, assign='{"sold": [1]}') == ALL[10:]


@shows("startingOffsets", "endingOffsets")
def by_offset(broker: riverlog.Broker) -> None:
    assert rows(broker, **SOLD, startingOffsets="earliest", endingOffsets="latest") == ALL
    given = {"startingOffsets": each(8, -2), "endingOffsets": each(-1, 1)}
    assert rows(broker, **SOLD, **given) == [(0, 8), (0, 9), (1, 0)]


@shows("startingTimestamp", "endingTimestamp")
def by_time(broker: riverlog.Broker) -> None:
    given = {"startingTimestamp": str(NOW_MS + 8), "endingTimestamp": str(NOW_MS + 12)}
    assert rows(broker, **SOLD, **given, startingOffsets=each(0, 0)) == ALL[8:12]


@shows("startingOffsetsByTimestamp", "endingOffsetsByTimestamp")
def by_times(broker: riverlog.Broker) -> None:
    start, end = each(NOW_MS + 9, NOW_MS), each(NOW_MS + 99, NOW_MS + 11)
    given = {"startingOffsetsByTimestamp": start, "endingOffsetsByTimestamp": end}
    assert rows(broker, **SOLD, **given, startingOffsets="earliest") == [(0, 9), (1, 0)]


@shows("startingOffsetsByTimestampStrategy")
def beyond_the_last(broker: riverlog.Broker) -> None:
    given = {**SOLD, "startingTimestamp": str(NOW_MS + 11)}
    with pytest.raises(InvalidOption, match="sold/0 has no record of the starting time"):
        rows(broker, **given, startingOffsetsByTimestampStrategy="error")
    assert rows(broker, **given, startingOffsetsByTimestampStrategy="latest") == ALL[11:]


@shows("minPartitions", "maxRecordsPerPartition")
def tasks(broker: riverlog.Broker) -> None:
    def sizes(**options: str) -> list[int]:
        return sorted(task.value.size for task in batch(broker, **SOLD, **options).partitions())

    assert sizes() == [5, 10]
    assert sizes(minPartitions="6") == [2, 2, 2, 3, 3, 3]
    assert sizes(maxRecordsPerPartition="5") == [5, 5, 5]
    assert rows(broker, **SOLD, minPartitions="6", maxRecordsPerPartition="1") == ALL


@shows("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
def micro_batches(broker: riverlog.Broker) -> None:
    given = {**SOLD, "startingOffsets": "earliest"}
    with Query(broker, **given, maxOffsetsPerTrigger="3") as query:
        assert query.latest(query.initial())["sold"] == {"0": 2, "1": 1}
    patient = {**SOLD, "startingOffsets": each(8, 5), "minOffsetsPerTrigger": "2"}
    with Query(broker, **patient, maxTriggerDelay="1h") as query:
        assert query.latest(query.initial())["sold"] == {"0": 10, "1": 5}
        one_before = {"sold": {"0": 9, "1": 5}}
        assert query.latest(one_before) == one_before
    with Query(broker, **patient, maxTriggerDelay="0ms") as query:
        query.latest(query.initial())
        assert query.latest(one_before) == {"sold": {"0": 10, "1": 5}}


@shows("failOnDataLoss")
def losses(broker: riverlog.Broker) -> None:
    with broker.connect() as client:
        client.topics.create("sold-out", partitions=1)
        client.publish_batch("sold-out", ["v"] * 5).results()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for deleted in admin.delete_records([TopicPartition("sold-out", 0, 3)]).values():
        deleted.result(10)
    given = {"subscribe": "sold-out", "startingOffsets": '{"sold-out": {"0": 1}}'}

    with pytest.raises(DataLoss, match="sold-out/0 begins at offset 3, and 1 was to be read"):
        rows(broker, **given)
    assert rows(broker, **given, failOnDataLoss="false") == [(0, 3), (0, 4)]


@shows("includeHeaders")
def headers(broker: riverlog.Broker) -> None:
    from riverlog.spark.source import RiverlogSource

    def columns(**options: str) -> list[str]:
        given = {"kafka.bootstrap.servers": broker.bootstrap, **SOLD, **options}
        names: list[str] = RiverlogSource(given).schema().fieldNames()
        return names

    assert columns(includeHeaders="true") == [*columns(includeHeaders="false"), "headers"]


@shows("groupIdPrefix", "kafka.group.id")
def groups(broker: riverlog.Broker) -> None:
    def shown(**options: str) -> list[str]:
        with Query(broker, **SOLD, startingOffsets="earliest", **options) as query:
            query.reader.commit(query.latest(query.initial()))
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        return [group.group_id for group in admin.list_consumer_groups().result(10).valid]

    assert "shop" in shown(**{"kafka.group.id": "shop"})
    assert any(name.startswith("till-") for name in shown(groupIdPrefix="till"))


@shows("kafkaConsumer.pollTimeoutMs", "kafka.bootstrap.servers")
def timeout(broker: riverlog.Broker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent_address = "{}:{}".format(*silent.getsockname())
        given = {**SOLD, "kafka.bootstrap.servers": silent_address}
        began_s = time.monotonic()
        with pytest.raises(ClientError, match=silent_address):
            rows(broker, **given, **{"kafkaConsumer.pollTimeoutMs": "500"})
        assert time.monotonic() - began_s < SETTINGS.connect_timeout_ms / 1000


@shows("fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "partition.metadata.cache.ttl.ms")
def without_effect(broker: riverlog.Broker) -> None:
    given = {"fetchOffset.numRetries": "0", "fetchOffset.retryIntervalMs": "1"}
    assert rows(broker, **SOLD, **given, **{"partition.metadata.cache.ttl.ms": "-1"}) == ALL


@shows("topic", "checkpointLocation", "queryName")
def sink(broker: riverlog.Broker) -> None:
    from riverlog.spark.sink import publish

    broker.create_topic("bought-once", 1)
    given = {"kafka.bootstrap.servers": broker.bootstrap, "topic": "bought-once"}
    options = sink_options({**given, "checkpointLocation": "c", "queryName": "q"})
    publish(options, iter([pa.record_batch({"value": ["v"], "topic": ["nowhere"]})]))
    assert rows(broker, subscribe="bought-once") == [(0, 0)]


@pytest.mark.parametrize("show", dict.fromkeys(SHOWN.values()), ids=lambda show: show.__name__)
def test_an_option_does_what_it_says(sold: riverlog.Broker, show: Show) -> None:
    show(sold)


def test_no_option_is_left_out() -> None:
    assert {*READING, *WRITING} == {name for name in SHOWN if not name.startswith("kafka.")}


@pytest.mark.parametrize("name", client_options._NUMBERS)
def test_a_number_for_the_client_reaches_it(name: str) -> None:
    field = client_options._NUMBERS[name]

    assert getattr(client_settings({f"kafka.{name}": "77"}), field) == 77
    with pytest.raises(InvalidOption, match=f"kafka.{name} is a whole number"):
        client_settings({f"kafka.{name}": "many"})


@pytest.mark.parametrize("name", sorted({*client_options._FIXED, *client_options._REFUSED}))
def test_what_would_change_the_result_is_refused(name: str) -> None:
    with pytest.raises(InvalidOption, match=f"kafka.{name} "):
        client_settings({f"kafka.{name}": "something"})
    for usual in client_options._FIXED.get(name, ()):
        client_settings({f"kafka.{name}": usual.upper()})


@pytest.mark.parametrize("name", sorted(client_options._WITHOUT_EFFECT))
def test_what_tunes_the_java_client_changes_nothing(name: str) -> None:
    assert client_settings({f"kafka.{name}": "1"}) == SETTINGS._replace(client_id="riverlog-spark")
