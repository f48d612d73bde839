"""The client against Apache Kafka itself: nothing in it depends on who the broker is."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import riverlog
from riverlog import NewRecord
from riverlog.client.errors import InvalidArgument, OffsetOutOfRange, TopicExists, UnknownTopic
from riverlog.client.sync_client import Client
from tests.conformance.apache_kafka.kafka_node import shared_node

pytestmark = pytest.mark.client("java")

HEARD_S_MAX = 20


@pytest.fixture(scope="module")
def kafka(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Client]:
    """A client of one node, shared with all other tests that need one."""
    base: Path = tmp_path_factory.getbasetemp()
    is_one_of_many = hasattr(request.config, "workerinput")
    directory = (base.parent if is_one_of_many else base) / "apache-kafka"
    with (
        shared_node(directory) as node,
        riverlog.connect(f"{node.host}:{node.port}", compression="zstd") as client,
    ):
        yield client


@pytest.fixture
def topic(kafka: Client) -> str:
    name = f"t-{uuid4().hex}"
    kafka.topics.create(name, partitions=3, configs={"retention.ms": "1000000000"})
    return name


def configs(kafka: Client, topic: str) -> dict[str, str | None]:
    return {each.name: each.value for each in kafka.topics.configs(topic)}


def eventually(is_so: Callable[[], bool]) -> None:
    """Waits until its broker has heard of what its controller has answered already."""
    deadline = time.monotonic() + HEARD_S_MAX
    while not is_so():
        assert time.monotonic() < deadline, "it has not come to that in time"
        time.sleep(0.05)


def test_records_come_back_as_they_were_published(kafka: Client, topic: str) -> None:
    records = [
        NewRecord(b"%d" % number, b"k", {"h": b"\xff"}, 1_700_000_000_000 + number, number % 3)
        for number in range(2000)
    ]
    results = kafka.publish_batch(topic, records).results()
    got = {
        (record.partition, record.offset): record
        for record in kafka.subscribe(topic, start="earliest", until="end")
    }
    assert len(got) == 2000
    for result, sent in zip(results, records, strict=True):
        record = got[result.partition, result.offset]
        assert (record.value, record.key, record.timestamp_ms) == (
            sent.value,
            sent.key,
            sent.timestamp_ms,
        )
        assert record.headers == (("h", b"\xff"),)


def test_topics_are_described_and_changed(kafka: Client, topic: str) -> None:
    assert len(kafka.topics.describe(topic).partitions) == 3
    kafka.topics.add_partitions(topic, 4)
    wanted = {"retention.ms": "5", "cleanup.policy": "compact"}
    kafka.topics.set_configs(topic, wanted)
    eventually(lambda: wanted.items() <= configs(kafka, topic).items())
    eventually(lambda: len(kafka.topics.describe(topic).partitions) == 4)
    assert kafka.topics.offsets(topic) == {0: 0, 1: 0, 2: 0, 3: 0}
    with pytest.raises(TopicExists):
        kafka.topics.create(topic)
    with pytest.raises(InvalidArgument):
        kafka.topics.create("no/name")
    kafka.topics.delete(topic)
    eventually(lambda: all(each.name != topic for each in kafka.topics.list()))
    with pytest.raises(UnknownTopic):
        kafka.subscribe(topic)


def test_a_missing_topic_is_made_by_publishing_to_it(kafka: Client) -> None:
    name = f"auto-{uuid4().hex}"
    assert kafka.publish(name, "first", partition=0).offset == 0


def test_an_offset_outside_of_the_log_is_an_error(kafka: Client, topic: str) -> None:
    with pytest.raises(OffsetOutOfRange):
        next(kafka.subscribe(topic, start={0: 99}))


def test_a_group_goes_on_where_it_left_off(kafka: Client, topic: str) -> None:
    kafka.publish_batch(topic, [(str(n), str(n)) for n in range(30)]).results()
    seen = []
    for count in (10, 20):
        reading = kafka.subscribe(topic, group=topic, start="earliest", count=count)
        seen += [int(record.text()) for record in reading]
    assert sorted(seen) == list(range(30))
