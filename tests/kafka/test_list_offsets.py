"""ListOffsets: the ends of a log, and offsets by time."""

import asyncio

import pytest

from riverlog.kafka import settling
from riverlog.log.errors import StorageFailed
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.serving import Serving, batch_of, serving

LATEST, EARLIEST, LARGEST_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
EARLIEST_PENDING = -6
NOTHING = (-1, -1)


async def ask(
    running: Serving, *times_ms: int, version: int = 10, epoch: int = -1, topic: str = "orders"
) -> list[ListOffsetsPartitionResponse]:
    """One answer for each time, asked for partition 0, 1, 2 and so on."""
    partitions = [
        ListOffsetsPartition(partition_index=index, timestamp=time, current_leader_epoch=epoch)
        for index, time in enumerate(times_ms)
    ]
    topics = [ListOffsetsTopic(name=topic, partitions=partitions)]
    response = await running.ask(ListOffsetsRequest(replica_id=-1, topics=topics), version)
    return list(response.topics[0].partitions)


async def found(running: Serving, time_ms: int, version: int = 10) -> tuple[int, int]:
    """The timestamp and the offset that a time is answered with."""
    (answer,) = await ask(running, time_ms, version=version)
    assert answer.error_code == ErrorCode.NONE
    return answer.timestamp, answer.offset


@pytest.mark.parametrize("version", range(1, 12))
async def test_every_version_knows_both_ends(version: int) -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 10, 20, 30)
        assert await found(running, EARLIEST, version) == (-1, 0)
        assert await found(running, LATEST, version) == (-1, 3)


async def test_an_empty_partition_begins_and_ends_at_zero() -> None:
    async with serving() as running:
        await running.create("orders")
        assert await found(running, EARLIEST) == (-1, 0)
        assert await found(running, LATEST) == (-1, 0)
        assert await found(running, LARGEST_TIMESTAMP) == NOTHING
        assert await found(running, 0) == NOTHING


async def test_only_what_is_durable_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "SETTLED_S_MAX", 0.01)
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 10)
        log = running.broker.partition(running.broker.topic("orders"), 0)
        running.syncer.hold()
        running.broker.append(log, batch_of(20))
        assert log.next_offset == 2
        assert await found(running, LATEST) == (-1, 1)
        assert await found(running, 20) == NOTHING
        assert await found(running, LARGEST_TIMESTAMP) == (10, 0)
        running.syncer.let_go()


@pytest.mark.parametrize("fails", [False, True])
async def test_the_end_is_told_when_it_is_known_of_what_was_acknowledged_before(
    fails: bool,
) -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 10)
        running.syncer.hold()
        await running.produce("orders", 20, acks=1)
        asked = asyncio.create_task(found(running, LATEST))
        await asyncio.sleep(0.02)
        assert not asked.done()
        if fails:
            running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        running.syncer.let_go()
        assert await asked == (-1, 1 if fails else 2)


async def test_offsets_that_were_given_up_are_not_waited_for() -> None:
    async with serving() as running:
        await running.create("orders")
        log = running.broker.partition(running.broker.topic("orders"), 0)
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        await running.produce("orders", 20, acks=1)
        assert await found(running, LATEST) == (-1, 0)
        running.disk.inject(Fault(Effect.ENOSPC, fits=lambda path: path.endswith(f"{1:020}.log")))
        with pytest.raises(StorageFailed):
            running.broker.append(log, batch_of(30))
        assert (log.high_watermark, log.next_offset) == (0, 1)
        assert log.settled() is None
        assert await found(running, LATEST) == (-1, 0)


async def test_a_time_finds_the_earliest_record_at_or_after_it() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 100, 300, 200)
        await running.produce("orders", 250, 400)
        assert await found(running, 0) == (100, 0)
        assert await found(running, 100) == (100, 0)
        assert await found(running, 101) == (300, 1)
        assert await found(running, 300) == (300, 1)
        assert await found(running, 301) == (400, 4)
        assert await found(running, 401) == NOTHING


async def test_the_record_with_the_largest_timestamp_is_found() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 100, 500, 200)
        await running.produce("orders", 500, 400)
        assert await found(running, LARGEST_TIMESTAMP) == (500, 1)


async def test_all_records_are_local_and_none_is_tiered() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 100)
        assert await found(running, EARLIEST_LOCAL) == (-1, 0)
        assert await found(running, LATEST_TIERED) == NOTHING
        assert await found(running, EARLIEST_PENDING, 11) == NOTHING


@pytest.mark.parametrize(
    ("time", "first"),
    [(LARGEST_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9), (EARLIEST_PENDING, 11)],
)
async def test_times_with_a_meaning_are_known_from_their_version_on(time: int, first: int) -> None:
    async with serving() as running:
        await running.create("orders")
        (before,) = await ask(running, time, version=first - 1)
        assert (before.error_code, before.offset) == (ErrorCode.UNSUPPORTED_VERSION, -1)
        (known,) = await ask(running, time, version=first)
        assert known.error_code == ErrorCode.NONE


async def test_answers_name_the_epoch_of_what_they_found() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 100)
        first_epoch = running.broker.leader_epoch
        await running.restart()
        await running.produce("orders", 200)
        last_epoch = running.broker.leader_epoch
        epochs = [
            (await ask(running, time))[0].leader_epoch
            for time in (EARLIEST, 100, 200, LARGEST_TIMESTAMP, LATEST, 300)
        ]
    assert last_epoch > first_epoch
    assert epochs == [first_epoch, first_epoch, last_epoch, last_epoch, last_epoch, -1]


async def test_a_client_with_another_epoch_is_told() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.restart()
        epoch = running.broker.leader_epoch
        codes = [
            (await ask(running, LATEST, epoch=claimed))[0].error_code
            for claimed in (epoch - 1, epoch, epoch + 1)
        ]
    assert codes == [ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NONE, ErrorCode.UNKNOWN_LEADER_EPOCH]


async def test_one_unknown_partition_hinders_no_other() -> None:
    async with serving() as running:
        await running.create("orders", partitions=2)
        answers = await ask(running, LATEST, LATEST, LATEST)
        (unknown,) = await ask(running, LATEST, topic="unknown")
    codes = [answer.error_code for answer in answers]
    assert codes == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert len(running.broker.topics) == 1


async def test_a_partition_asked_for_twice_is_refused() -> None:
    twice = [ListOffsetsPartition(partition_index=n, timestamp=LATEST) for n in (0, 1, 0)]
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name="orders", partitions=twice)]
    )
    async with serving() as running:
        await running.create("orders", partitions=2)
        response = await running.ask(request, 10)
    assert [p.error_code for p in response.topics[0].partitions] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
    ]
