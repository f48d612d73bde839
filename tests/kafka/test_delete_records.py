"""DeleteRecords: where partitions begin, what is refused, and what clients see of it."""

import asyncio

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from riverlog.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from riverlog.stores.small_file import DRAFT_SUFFIX
from riverlog.testing.simulated_disk import Effect, Fault
from tests.broker_process import BrokerProcess
from tests.kafka.serving import Serving, serving
from tests.kafka.test_list_offsets import EARLIEST, LARGEST_TIMESTAMP, found

TIMEOUT_S = 20
NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def request(*asked: tuple[str, int, int], timeout_ms: int = 1_000) -> DeleteRecordsRequest:
    """Deletes in each topic and partition what stands before an offset."""
    topics = [
        DeleteRecordsTopic(
            name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
        )
        for name, index, offset in asked
    ]
    return DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms)


async def delete(
    running: Serving, *asked: tuple[str, int, int], version: int = 2, timeout_ms: int = 1_000
) -> list[tuple[int, int]]:
    """The error and the low watermark of each."""
    response = await running.ask(request(*asked, timeout_ms=timeout_ms), version)
    results: list[DeleteRecordsPartitionResult] = [
        result for topic in response.topics for result in topic.partitions
    ]
    return [(result.error_code, result.low_watermark) for result in results]


async def fetch(running: Serving, offset: int, wait_ms: int = 0) -> PartitionData:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    response = await running.ask(_fetch(partition, wait_ms), 11)
    answer: PartitionData = response.responses[0].partitions[0]
    return answer


def _fetch(partition: FetchPartition, wait_ms: int) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1 << 20 if wait_ms else 0,
        max_bytes=1 << 20,
        topics=[FetchTopic(topic="orders", partitions=[partition])],
        forgotten_topics_data=[],
    )


@pytest.mark.parametrize("version", range(3))
async def test_what_stands_before_an_offset_goes_for_good(version: int) -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 50, 20, 30, 40)

        assert await delete(running, ("orders", 0, 2), version=version) == [(NONE, 2)]

        assert await found(running, EARLIEST) == (-1, 2)
        assert await found(running, 0) == (30, 2)
        assert await found(running, LARGEST_TIMESTAMP) == (40, 3)
        assert (await fetch(running, 1)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        await running.cut_power()
        assert await found(running, EARLIEST) == (-1, 2)
        assert (await fetch(running, 2)).log_start_offset == 2


async def test_minus_one_deletes_everything_and_offsets_go_on() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2, 3)
        assert await delete(running, ("orders", 0, -1)) == [(NONE, 3)]
        await running.cut_power()
        assert await found(running, EARLIEST) == (-1, 3)
        assert await running.produce("orders", 4) == 3


async def test_an_empty_partition_has_nothing_to_delete() -> None:
    async with serving() as running:
        await running.create("orders")
        assert await delete(running, ("orders", 0, -1)) == [(NONE, 0)]
        assert await delete(running, ("orders", 0, 0)) == [(NONE, 0)]


async def test_a_partition_that_begins_later_stays_as_it_is() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2, 3)
        await delete(running, ("orders", 0, 2))
        assert await delete(running, ("orders", 0, 1)) == [(NONE, 2)]


async def test_what_cannot_be_is_refused_and_hinders_no_other() -> None:
    async with serving() as running:
        await running.create("orders", 2)
        await running.produce("orders", 1, 2, 3)
        out_of_range = ErrorCode.OFFSET_OUT_OF_RANGE
        answers = await delete(
            running,
            ("orders", 0, 4),
            ("orders", 0, -2),
            ("orders", 2, 0),
            ("unknown", 0, 0),
            ("__consumer_offsets", 0, 0),
            ("orders", 0, 1),
        )
    codes = [out_of_range, out_of_range, UNKNOWN, UNKNOWN, ErrorCode.INVALID_TOPIC_EXCEPTION]
    assert answers == [*((code, -1) for code in codes), (NONE, 1)]


@pytest.mark.parametrize(
    ("policy", "code"),
    [("compact", ErrorCode.POLICY_VIOLATION), ("compact,delete", NONE), ("delete", NONE)],
)
async def test_a_topic_that_is_only_compacted_refuses(policy: str, code: int) -> None:
    async with serving() as running:
        config = CreatableTopicConfig(name="cleanup.policy", value=policy)
        topic = CreatableTopic(
            name="orders",
            num_partitions=1,
            replication_factor=1,
            assignments=[],
            configs=[config],
        )
        await running.ask(CreateTopicsRequest(topics=[topic]), 7)
        assert (await delete(running, ("orders", 0, 0)))[0][0] == code


async def test_a_disk_that_refuses_deletes_nothing() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2)
        running.disk.inject(Fault(Effect.ENOSPC, times=None, fits=_is_draft))
        assert await delete(running, ("orders", 0, 1)) == [(ErrorCode.KAFKA_STORAGE_ERROR, -1)]
        running.disk.clear_faults()
        assert await found(running, EARLIEST) == (-1, 0)
        assert await delete(running, ("orders", 0, 1)) == [(NONE, 1)]


async def test_what_takes_too_long_is_told_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2)
        run_apart, held = running.syncer.run_apart, []
        monkeypatch.setattr(running.syncer, "run_apart", lambda *work: held.append(work))
        timed_out = [(ErrorCode.REQUEST_TIMED_OUT, -1)]
        assert await delete(running, ("orders", 0, 1), timeout_ms=20) == timed_out
        assert await found(running, EARLIEST) == (-1, 0)
        for work in held:
            run_apart(*work)
        assert await found(running, EARLIEST) == (-1, 1)


async def test_a_fetch_that_waits_at_an_offset_that_goes_is_told() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2)
        waiting = await running.connect()
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
        asked = _fetch(partition, wait_ms=20_000)
        waiting.send(asked, 11)
        await asyncio.sleep(0.05)
        await delete(running, ("orders", 0, 2))
        _, response = await asyncio.wait_for(waiting.receive(asked, 11), 5)
    answer: PartitionData = response.responses[0].partitions[0]
    assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(("reset", "value"), [("earliest", b"2"), ("latest", b"new")])
def test_a_consumer_whose_next_record_was_deleted_is_reset(
    shared_broker: BrokerProcess, reset: str, value: bytes
) -> None:
    topic = f"deleted-{reset}"
    servers: dict[str, str | int | float | bool] = {"bootstrap.servers": shared_broker.bootstrap}
    admin = AdminClient(servers)
    admin.create_topics([NewTopic(topic, 1)])[topic].result(TIMEOUT_S)
    producer = Producer(servers)
    for number in range(4):
        producer.produce(topic, b"%d" % number, partition=0)
    assert producer.flush(TIMEOUT_S) == 0
    consumer = Consumer({**servers, "group.id": topic, "auto.offset.reset": reset})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        assert _value(consumer) == b"0"

        deleted = admin.delete_records([TopicPartition(topic, 0, 2)])
        (low,) = [future.result(TIMEOUT_S).low_watermark for future in deleted.values()]
        assert low == 2
        consumer.assign([TopicPartition(topic, 0, 1)])
        found = _value(consumer, 1 if reset == "latest" else TIMEOUT_S)
        while reset == "latest" and found is None:
            producer.produce(topic, b"new", partition=0)
            assert producer.flush(TIMEOUT_S) == 0
            found = _value(consumer, 1)

        assert found == value
    finally:
        consumer.close()


def _value(consumer: Consumer, timeout_s: int = TIMEOUT_S) -> bytes | None:
    message = consumer.poll(timeout_s)
    assert message is None or message.error() is None
    return None if message is None else message.value()


def _is_draft(path: str) -> bool:
    return "/topics/" in path and path.endswith(DRAFT_SUFFIX)


async def test_what_was_acknowledged_and_is_not_durable_yet_can_be_deleted() -> None:
    async with serving() as running:
        await running.create("orders")
        for place in (1, -1):
            running.syncer.hold()
            await running.produce("orders", 10, acks=1)
            asked = asyncio.create_task(delete(running, ("orders", 0, place)))
            await asyncio.sleep(0.02)
            assert not asked.done()
            running.syncer.let_go()
            assert (await asked)[0][0] == NONE
        assert await found(running, EARLIEST) == (-1, 2)
