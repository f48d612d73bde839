"""What a broker has written down of a group, read as lag tools do: from `__consumer_offsets`."""

from struct import Struct

from riverlog.groups.facts import DurableFact, GenerationSettled
from riverlog.groups.records import decode
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from riverlog.records.batch import split
from riverlog.records.record import iterate
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import RawConnection, connected

OFFSETS_TOPIC = "__consumer_offsets"
FETCH_BYTES = 16 << 20

_INT16 = Struct(">h")
_INT32 = Struct(">i")


def generations(broker: BrokerProcess, group: str) -> list[GenerationSettled]:
    """Every generation that a group has settled, in order."""
    with connected(broker) as connection:
        asked = [MetadataRequestTopic(name=OFFSETS_TOPIC)]
        metadata = connection.ask(MetadataRequest(topics=asked), 8, MetadataResponse)
        (topic,) = metadata.topics
        assert topic.is_internal
        facts = [
            fact
            for index in range(len(topic.partitions))
            for found, fact in _facts(connection, index)
            if found == group
        ]
    return [fact for fact in facts if isinstance(fact, GenerationSettled)]


def partitions_of(assignment: bytes) -> list[int]:
    """The partitions in a consumer's share, of its one topic; sorted."""
    if not assignment:
        return []
    partitions: list[int] = []
    (topics,) = _INT32.unpack_from(assignment, 2)
    at = 6
    for _ in range(topics):
        (length,) = _INT16.unpack_from(assignment, at)
        at += 2 + length
        (count,) = _INT32.unpack_from(assignment, at)
        at += 4
        for _ in range(count):
            partitions += _INT32.unpack_from(assignment, at)
            at += 4
    return sorted(partitions)


def _facts(connection: RawConnection, index: int) -> list[tuple[str, DurableFact]]:
    facts: list[tuple[str, DurableFact]] = []
    offset = 0
    while True:
        wanted = FetchPartition(
            partition=index, fetch_offset=offset, partition_max_bytes=FETCH_BYTES
        )
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=FETCH_BYTES,
            topics=[FetchTopic(topic=OFFSETS_TOPIC, partitions=[wanted])],
        )
        (answer,) = connection.ask(request, 4, FetchResponse).responses[0].partitions
        data = bytes(answer.records or b"")
        if not data:
            return facts
        for position, header in split(data):
            for record in iterate(data, position, decompressed_bytes_max=FETCH_BYTES):
                facts.append(decode(record.key, record.value))
            offset = header.next_offset
