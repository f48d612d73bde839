"""Offsets without records at the end of a log: every client gets past them, and to the end."""

import asyncio
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiokafka
import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition

import riverlog
from riverlog.records.batch import HEADER_SIZE, split
from tests.broker_process import BrokerProcess
from tests.conformance.clients.client import DEADLINE_S, Client, Record
from tests.conformance.clients.roster import ALL, OpenClient, with_each

with warnings.catch_warnings():
    # It reads its schemas with a deprecated function of the standard library.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka

ENDS_WITH_A_GAP = "ends-with-a-gap"
HAS_A_GAP = "has-a-gap"
WRITTEN = 5
LOST = 2


@pytest.fixture(scope="module")
def scarred(
    tmp_path_factory: pytest.TempPathFactory, open_client: OpenClient
) -> Iterator[BrokerProcess]:
    """A broker that found the last two of five batches of two topics damaged when it started."""
    broker = BrokerProcess(tmp_path_factory.mktemp("scarred"))
    client = open_client("confluent-kafka")
    broker.start()
    try:
        client.create_topics(broker.bootstrap, {ENDS_WITH_A_GAP: 1, HAS_A_GAP: 1})
        for topic in (ENDS_WITH_A_GAP, HAS_A_GAP):
            for number in range(WRITTEN):
                client.produce(broker.bootstrap, topic, [_record(number)], "none")
        broker.terminate()
        for segment in broker.data.glob("*/*/*/*.log"):
            _damage(segment)
        broker.start()
        client.produce(broker.bootstrap, HAS_A_GAP, [_record(WRITTEN)], "none")
        yield broker
    finally:
        broker.kill()


def _record(number: int) -> Record:
    return Record(key=b"key", value=b"%d" % number, timestamp_ms=1_767_225_600_000)


def _damage(segment: Path) -> None:
    data = bytearray(segment.read_bytes())
    found = list(split(data))
    assert len(found) == WRITTEN
    for position, _ in found[-LOST:]:
        data[position + HEADER_SIZE] ^= 1
    segment.write_bytes(data)


KEPT = [b"%d" % number for number in range(WRITTEN - LOST)]


@with_each(ALL)
def test_a_client_reads_on_behind_a_gap(client: Client, scarred: BrokerProcess) -> None:
    count = len(KEPT) + 1

    found = client.consume(scarred.bootstrap, {HAS_A_GAP: count})

    assert [record.value for record in found[HAS_A_GAP]] == [*KEPT, b"%d" % WRITTEN]


@pytest.mark.client("kcat")
def test_kcat_ends_at_the_end(scarred: BrokerProcess) -> None:
    command = ["kcat", "-b", scarred.bootstrap, "-C", "-t", ENDS_WITH_A_GAP, "-o", "beginning"]

    done = subprocess.run([*command, "-e", "-q"], capture_output=True, timeout=DEADLINE_S)

    assert done.stdout.split() == KEPT


def test_confluent_kafka_is_told_of_the_end(scarred: BrokerProcess) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": scarred.bootstrap,
            "group.id": "none",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(ENDS_WITH_A_GAP, 0, 0)])
    try:
        polled = [consumer.poll(DEADLINE_S) for _ in range(len(KEPT) + 1)]
    finally:
        consumer.close()
    *records, end = polled
    assert [record is not None and record.value() for record in records] == KEPT
    assert end is not None
    error = end.error()
    assert error is not None
    assert (error.code(), end.offset()) == (KafkaError._PARTITION_EOF, WRITTEN)


def test_kafka_python_gets_to_the_end(scarred: BrokerProcess) -> None:
    partition = kafka.TopicPartition(ENDS_WITH_A_GAP, 0)
    consumer: Any = kafka.KafkaConsumer(
        bootstrap_servers=scarred.bootstrap, enable_auto_commit=False
    )
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    values = []
    try:
        end = consumer.end_offsets([partition])[partition]
        while consumer.position(partition) < end:
            for records in consumer.poll(timeout_ms=100).values():
                values += [record.value for record in records]
    finally:
        consumer.close()
    assert (end, values) == (WRITTEN, KEPT)


async def test_aiokafka_gets_to_the_end(scarred: BrokerProcess) -> None:
    partition = aiokafka.TopicPartition(ENDS_WITH_A_GAP, 0)
    consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=scarred.bootstrap)
    await consumer.start()
    values = []
    try:
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        async with asyncio.timeout(DEADLINE_S):
            while await consumer.position(partition) < WRITTEN:
                found = await consumer.getmany(timeout_ms=100)
                values += [record.value for records in found.values() for record in records]
    finally:
        await consumer.stop()
    assert values == KEPT


def test_a_table_ends_at_the_end(scarred: BrokerProcess) -> None:
    table = riverlog.read_arrow(ENDS_WITH_A_GAP, bootstrap=scarred.bootstrap, columns=["value"])

    assert table["value"].to_pylist() == KEPT
