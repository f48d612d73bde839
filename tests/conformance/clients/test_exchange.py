"""What one client writes, every other reads: keys, values, headers, timestamps, every codec."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from riverlog.records.batch import read_header
from tests.broker_process import BrokerProcess
from tests.conformance.clients.client import CODECS, Client, Headers, Lack, Record
from tests.conformance.clients.raw_connection import connected
from tests.conformance.clients.roster import ALL, TOOLS, OpenClient, with_each
from tests.tools import lacking

PARTITIONS = 3
# Of what is written here, the big value alone is worth compressing to every client.
BIG_PARTITION = 2
BIG_VALUE = random.Random(1).randbytes(500) * 2_000
DEFAULT_PARTITIONS = 4


@dataclass(frozen=True, slots=True)
class Written:
    """What a topic has, and how it came there."""

    records: Sequence[Record]
    codec: str
    started_ms: int
    ended_ms: int
    lacks: Lack


@pytest.fixture(scope="module")
def written(shared_broker: BrokerProcess, open_client: OpenClient) -> dict[str, Written]:
    """By topic, what every client that is here has written, once in each codec."""
    writers = [name for name in ALL if name not in TOOLS or lacking(TOOLS[name]) is None]
    names = {(writer, codec): f"{writer}-{codec}" for writer in writers for codec in CODECS}
    counts = dict.fromkeys(names.values(), PARTITIONS)
    open_client("confluent-kafka").create_topics(shared_broker.bootstrap, counts)
    topics = {}
    for (writer, codec), topic in names.items():
        client = open_client(writer)
        started_ms = _now_ms()
        records = _records(client.lacks, started_ms)
        client.produce(shared_broker.bootstrap, topic, records, codec)
        topics[topic] = Written(records, codec, started_ms, _now_ms(), client.lacks)
    return topics


@with_each(ALL)
def test_a_client_reads_what_every_client_wrote(
    client: Client, shared_broker: BrokerProcess, written: dict[str, Written]
) -> None:
    counts = {topic: len(expected.records) for topic, expected in written.items()}

    found = client.consume(shared_broker.bootstrap, counts)

    for topic, expected in written.items():
        taken = _as_written(found[topic], expected)
        for partition in range(PARTITIONS):
            assert [record for record in taken if record.partition == partition] == [
                record for record in expected.records if record.partition == partition
            ], f"{client.name} reads {topic}, partition {partition}"


def test_what_was_written_is_kept_compressed_as_its_writer_chose(
    shared_broker: BrokerProcess, written: dict[str, Written]
) -> None:
    chosen = {topic: expected.codec for topic, expected in written.items()}

    kept = {topic: _fetch(shared_broker, topic, BIG_PARTITION) for topic in written}

    assert {topic: read_header(data).codec.name.lower() for topic, data in kept.items()} == chosen


@with_each(ALL)
def test_writing_to_a_topic_that_is_not_there_makes_it(
    client: Client, shared_broker: BrokerProcess
) -> None:
    topic = f"unmade-{client.name}"
    record = Record(partition=DEFAULT_PARTITIONS - 1, value=b"first", timestamp_ms=_now_ms())

    client.produce(shared_broker.bootstrap, topic, [record], "none")

    assert client.describe(shared_broker.bootstrap).topics[topic] == DEFAULT_PARTITIONS


def _records(lacks: Lack, now_ms: int) -> list[Record]:
    """Every kind of record that a client can write, to several partitions."""
    headers: Headers = (("text", "größer".encode()), ("empty", b""))
    if Lack.REPEATED_HEADERS not in lacks:
        headers += (("again", b"1"), ("again", b"2"))
    if Lack.NULL_HEADERS not in lacks:
        headers += (("null", None),)
    return [
        Record(partition=0, key=b"key", value=b"value", headers=headers, timestamp_ms=now_ms),
        Record(partition=0, key=b"empty value", value=b"", timestamp_ms=now_ms + 1),
        Record(partition=0, key=b"null value", value=None, timestamp_ms=now_ms + 2),
        Record(partition=1, key=None, value=b"null key", timestamp_ms=now_ms + 3),
        Record(partition=1, key=b"", value=b"empty key", timestamp_ms=now_ms + 4),
        Record(partition=1, key=bytes(range(256)), value=b"older", timestamp_ms=now_ms - 9_999),
        Record(partition=BIG_PARTITION, value=BIG_VALUE, timestamp_ms=now_ms + 5),
    ]


def _as_written(found: Sequence[Record], expected: Written) -> Sequence[Record]:
    """With the timestamps asked for, in place of any the writer could only take from its clock."""
    if Lack.TIMESTAMPS not in expected.lacks:
        return found
    asked_ms = {(record.key, record.value): record.timestamp_ms for record in expected.records}
    for record in found:
        assert expected.started_ms <= record.timestamp_ms <= expected.ended_ms
    return [
        replace(record, timestamp_ms=asked_ms.get((record.key, record.value), -1))
        for record in found
    ]


def _fetch(broker: BrokerProcess, topic: str, partition: int) -> bytes:
    """The batches of a partition as they are kept, from its beginning."""
    size_bytes = 4 * len(BIG_VALUE)
    wanted = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=size_bytes)
    request = FetchRequest(
        max_wait_ms=1_000,
        min_bytes=1,
        max_bytes=size_bytes,
        topics=[FetchTopic(topic=topic, partitions=[wanted])],
    )
    with connected(broker) as connection:
        reply = connection.ask(request, 4, FetchResponse)
    (answer,) = reply.responses[0].partitions
    assert answer.error_code == 0
    return bytes(answer.records or b"")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
