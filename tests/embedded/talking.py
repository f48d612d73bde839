"""The little that these tests say to a broker: records in, records out, over a raw connection."""

import socket
import time

from riverlog.config import Address
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from riverlog.records.batch import split
from riverlog.records.builder import build_batch
from riverlog.records.record import Record, iterate
from tests.conformance.clients.raw_connection import connected

TOPIC = "orders"


def produce_request(value: bytes, topic: str = TOPIC, acks: int = -1) -> ProduceRequest:
    batch = build_batch([Record(0, time.time_ns() // 1_000_000, None, value)])
    data = PartitionProduceData(index=0, records=batch)
    topic_data = [TopicProduceData(name=topic, partition_data=[data])]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=topic_data)


def produce(address: Address, value: bytes, topic: str = TOPIC) -> PartitionProduceResponse:
    """The answer for one record in partition 0."""
    with connected(address) as connection:
        response = connection.ask(produce_request(value, topic), 9, ProduceResponse)
    return response.responses[0].partition_responses[0]


def fetch(address: Address, topic: str = TOPIC) -> PartitionData:
    """What there is in partition 0, without waiting for more."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=topic, partitions=[partition])]
    )
    with connected(address) as connection:
        response = connection.ask(request, 12, FetchResponse)
    return response.responses[0].partitions[0]


def values(address: Address, topic: str = TOPIC) -> list[bytes | None]:
    """The values of all records in partition 0."""
    records = fetch(address, topic).records or b""
    return [
        record.value
        for start, _ in split(records)
        for record in iterate(records, start, decompressed_bytes_max=1 << 20)
    ]


def make_topic(address: Address, topic: str = TOPIC) -> int:
    """Has the broker make a topic by asking for it; gives the number of its partitions."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    with connected(address) as connection:
        response = connection.ask(request, 9, MetadataResponse)
    return len(response.topics[0].partitions)


def partition_counts(address: Address, *topics: str) -> dict[str, int]:
    """How many partitions the topics of these names have, without making any; 0 for none."""
    asked = [MetadataRequestTopic(name=topic) for topic in topics]
    request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
    with connected(address) as connection:
        response = connection.ask(request, 9, MetadataResponse)
    return {topic.name or "": len(topic.partitions) for topic in response.topics}


def is_listening(address: Address) -> bool:
    """Whether clients can connect there."""
    try:
        socket.create_connection(address, timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True
