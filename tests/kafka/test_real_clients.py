"""Real clients make, ask about and end topics on a broker in a process of its own."""

import warnings
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import aiokafka
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.cimpl import NewTopic

from tests.broker_process import BrokerProcess

with warnings.catch_warnings():
    # It reads its schemas with a deprecated function of the standard library.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka

TIMEOUT_S = 20
_numbers = count(1)


@pytest.fixture
def admin(shared_broker: BrokerProcess) -> AdminClient:
    return AdminClient({"bootstrap.servers": shared_broker.bootstrap})


@pytest.fixture
def topic() -> str:
    """A name that no other test uses."""
    return f"real-clients-{next(_numbers)}"


@pytest.fixture
def consumer(shared_broker: BrokerProcess) -> Iterator[Any]:
    """A consumer of kafka-python, which fetches in sessions."""
    found = kafka.KafkaConsumer(
        bootstrap_servers=shared_broker.bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=TIMEOUT_S * 1000,
    )
    yield found
    found.close()


def results(futures: Mapping[Any, Any]) -> list[Any]:
    return [future.result(TIMEOUT_S) for future in futures.values()]


def produce(broker: BrokerProcess, topic: str, *times_ms: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for time_ms in times_ms:
        producer.produce(topic, b"%d" % time_ms, partition=0, timestamp=time_ms)
    assert producer.flush(TIMEOUT_S) == 0


def test_confluent_kafka_makes_and_deletes_topics(admin: AdminClient, topic: str) -> None:
    results(admin.create_topics([NewTopic(topic, 3, config={"retention.ms": "1000"})]))
    assert len(admin.list_topics(timeout=TIMEOUT_S).topics[topic].partitions) == 3
    results(admin.delete_topics([topic]))
    assert topic not in admin.list_topics(timeout=TIMEOUT_S).topics


def test_confluent_kafka_assigns_partitions_by_hand(admin: AdminClient, topic: str) -> None:
    results(admin.create_topics([NewTopic(topic, 2, replica_assignment=[[1], [1]])]))
    assert len(admin.list_topics(timeout=TIMEOUT_S).topics[topic].partitions) == 2


def test_confluent_kafka_is_told_why_a_topic_cannot_be(admin: AdminClient, topic: str) -> None:
    results(admin.create_topics([NewTopic(topic, 1)]))
    refused = {
        KafkaError.TOPIC_ALREADY_EXISTS: NewTopic(topic, 1),
        KafkaError.INVALID_REPLICATION_FACTOR: NewTopic("other", 1, 3),
        KafkaError.INVALID_CONFIG: NewTopic("other", 1, config={"no.such": "1"}),
        KafkaError.TOPIC_EXCEPTION: NewTopic("not a name", 1),
    }
    for code, new in refused.items():
        with pytest.raises(KafkaException) as caught:
            results(admin.create_topics([new]))
        assert caught.value.args[0].code() == code
        assert caught.value.args[0].str()


def test_confluent_kafka_lists_offsets(
    shared_broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    results(admin.create_topics([NewTopic(topic, 1)]))
    produce(shared_broker, topic, 1000, 3000, 2000)
    spec: Any = OffsetSpec  # Its own types lack those of its methods.
    wanted = {
        spec.earliest(): (0, -1),
        spec.latest(): (3, -1),
        spec.max_timestamp(): (1, 3000),
        spec.for_timestamp(1001): (1, 3000),
        spec.for_timestamp(3001): (-1, -1),
    }
    for asked, expected in wanted.items():
        (found,) = results(admin.list_offsets({TopicPartition(topic, 0): asked}))
        assert (found.offset, found.timestamp) == expected


def test_kafka_python_finds_offsets_by_time(
    shared_broker: BrokerProcess, consumer: Any, topic: str
) -> None:
    produce(shared_broker, topic, 1000, 3000, 2000)
    partition = kafka.TopicPartition(topic, 0)
    found = consumer.offsets_for_times({partition: 1500})[partition]
    assert (found.offset, found.timestamp) == (1, 3000)
    assert consumer.offsets_for_times({partition: 3001}) == {partition: None}
    assert consumer.beginning_offsets([partition]) == {partition: 0}
    assert consumer.end_offsets([partition]) == {partition: 3}


def test_kafka_python_reads_in_a_session_what_is_written_meanwhile(
    shared_broker: BrokerProcess, consumer: Any, topic: str
) -> None:
    produce(shared_broker, topic, 1)
    consumer.assign([kafka.TopicPartition(topic, index) for index in range(4)])
    read = [next(consumer).value]
    for time_ms in range(2, 5):
        produce(shared_broker, topic, time_ms)
        read.append(next(consumer).value)
    assert read == [b"%d" % time_ms for time_ms in range(1, 5)]


async def test_aiokafka_writes_to_a_topic_that_its_question_made(
    shared_broker: BrokerProcess, topic: str
) -> None:
    producer = aiokafka.AIOKafkaProducer(
        bootstrap_servers=shared_broker.bootstrap, enable_idempotence=True
    )
    await producer.start()
    try:
        assert len(await producer.partitions_for(topic)) == 4
        sent = await producer.send_and_wait(topic, b"value", partition=3, timestamp_ms=5000)
        assert sent.offset == 0
    finally:
        await producer.stop()
    consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=shared_broker.bootstrap)
    await consumer.start()
    try:
        partition = aiokafka.TopicPartition(topic, 3)
        found = await consumer.offsets_for_times({partition: 4000})
        assert (found[partition].offset, found[partition].timestamp) == (0, 5000)
        assert await consumer.end_offsets([partition]) == {partition: 1}
    finally:
        await consumer.stop()
