"""What we publish, librdkafka reads; what it publishes, we read."""

from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

import riverlog
from riverlog import NewRecord
from riverlog.client.async_client import Compression
from riverlog.client.sync_client import Client
from tests.broker_process import BrokerProcess

Pairs = list[tuple[str, str | bytes | None]]


class Sent(NamedTuple):
    """A record both clients can publish."""

    value: bytes | None
    key: bytes | None
    headers: Pairs
    timestamp_ms: int
    partition: int = 0


RECORDS = [
    Sent(b"", b"k", [], 1_700_000_000_000),
    Sent(None, None, [("h", b"\xff"), ("h", None)], 1_700_000_000_001),
    Sent(b"x" * 100_000, b"", [], 1_700_000_000_002),
]


def read_by_confluent(bootstrap: str, topic: str, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic})
    consumer.assign([TopicPartition(topic, 0, 0)])
    messages: list[Message] = []
    while len(messages) < count:
        found = consumer.consume(count - len(messages), timeout=10)
        assert found, "librdkafka got nothing"
        messages += found
    consumer.close()
    return messages


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_librdkafka_reads_what_we_publish(
    shared_broker: BrokerProcess, topic: str, compression: Compression
) -> None:
    with riverlog.connect(shared_broker.bootstrap, compression=compression) as client:
        client.publish_batch(topic, [NewRecord(*record) for record in RECORDS]).results()
    for sent, got in zip(
        RECORDS, read_by_confluent(shared_broker.bootstrap, topic, 3), strict=True
    ):
        assert got.error() is None
        assert (got.key(), got.value()) == (sent.key, sent.value)
        assert got.timestamp()[1] == sent.timestamp_ms
        assert (got.headers() or []) == sent.headers


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_we_read_what_librdkafka_publishes(
    shared_broker: BrokerProcess, client: Client, topic: str, compression: str
) -> None:
    producer = Producer(
        {"bootstrap.servers": shared_broker.bootstrap, "compression.type": compression}
    )
    for record in RECORDS:
        producer.produce(
            topic,
            record.value,
            record.key,
            partition=0,
            timestamp=record.timestamp_ms,
            headers=record.headers or None,
        )
    assert producer.flush(10) == 0
    got = client.subscribe(topic, start="earliest", count=3)
    assert [
        (each.value, each.key, list(each.headers), each.timestamp_ms, each.partition)
        for each in got
    ] == [tuple(record) for record in RECORDS]


def test_a_key_goes_where_librdkafka_puts_it(
    shared_broker: BrokerProcess, client: Client, topic: str
) -> None:
    keys = [b"%d" % number for number in range(50)]
    producer = Producer(
        {"bootstrap.servers": shared_broker.bootstrap, "partitioner": "murmur2_random"}
    )
    for key in keys:
        producer.produce(topic, b"theirs", key)
    assert producer.flush(10) == 0
    theirs = {
        record.key: record.partition for record in client.subscribe(topic, start=-99, count=50)
    }
    ours = client.publish_batch(topic, [(key, b"ours") for key in keys]).results()
    assert {key: went.partition for key, went in zip(keys, ours, strict=True)} == theirs
