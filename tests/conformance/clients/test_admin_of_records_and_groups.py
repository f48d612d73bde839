"""confluent-kafka's AdminClient shortens logs, and looks after groups."""

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.broker_process import BrokerProcess

TIMEOUT_S = 20


@pytest.fixture
def admin(shared_broker: BrokerProcess) -> AdminClient:
    return AdminClient({"bootstrap.servers": shared_broker.bootstrap})


def only(futures: Mapping[Any, Any]) -> Any:
    """The result of the one thing that was asked for."""
    (future,) = futures.values()
    return future.result(TIMEOUT_S)


def filled(admin: AdminClient, broker: BrokerProcess, topic: str, *values: bytes) -> str:
    """A topic of one partition, with these records."""
    only(admin.create_topics([NewTopic(topic, 1, 1)]))
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(TIMEOUT_S) == 0
    return topic


def test_records_are_deleted(admin: AdminClient, shared_broker: BrokerProcess) -> None:
    topic = filled(admin, shared_broker, "admin-shortened", b"one", b"two", b"three")
    assert only(admin.delete_records([TopicPartition(topic, 0, 2)])).low_watermark == 2


def test_groups_are_listed_described_moved_and_deleted(
    admin: AdminClient, shared_broker: BrokerProcess
) -> None:
    topic, group = filled(admin, shared_broker, "admin-grouped", b"one", b"two"), "admin-group"
    settings = {"bootstrap.servers": shared_broker.bootstrap, "group.id": group}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    first = consumer.poll(TIMEOUT_S)
    assert first is not None
    assert first.value() == b"one"
    consumer.commit(asynchronous=False)

    described = only(admin.describe_consumer_groups([group]))
    assert described.state == ConsumerGroupState.STABLE
    assert [len(one.assignment.topic_partitions) for one in described.members] == [1]
    consumer.close()

    listed = admin.list_consumer_groups().result(TIMEOUT_S)
    assert group in {one.group_id for one in listed.valid}
    wanted = [TopicPartition(topic, 0, 2)]
    only(admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)]))
    told = only(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]))
    assert [(one.partition, one.offset) for one in told.topic_partitions] == [(0, 2)]
    only(admin.delete_consumer_groups([group]))
    listed = admin.list_consumer_groups().result(TIMEOUT_S)
    assert group not in {one.group_id for one in listed.valid}
