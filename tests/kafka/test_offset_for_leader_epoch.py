"""OffsetForLeaderEpoch: how far a consumer may have read in an earlier epoch."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.kafka.serving import Serving, serving

NOTHING = (-1, -1)


async def ask(
    running: Serving,
    epoch: int,
    *,
    claimed: int = -1,
    topic: str = "orders",
    partition: int = 0,
    version: int = 4,
) -> EpochEndOffset:
    asked = OffsetForLeaderPartition(
        partition=partition, current_leader_epoch=claimed, leader_epoch=epoch
    )
    request = OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])]
    )
    response = await running.ask(request, version)
    answer: EpochEndOffset = response.topics[0].partitions[0]
    return answer


async def end_of(running: Serving, epoch: int) -> tuple[int, int]:
    answer = await ask(running, epoch)
    assert answer.error_code == ErrorCode.NONE
    return answer.leader_epoch, answer.end_offset


@pytest.mark.parametrize("version", range(2, 5))
async def test_the_newest_epoch_ends_where_the_log_does(version: int) -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2, 3)
        epoch = running.broker.leader_epoch
        answer = await ask(running, epoch, version=version)
    assert (answer.partition, answer.leader_epoch, answer.end_offset) == (0, epoch, 3)


async def test_an_earlier_epoch_ends_where_the_next_one_with_records_begins() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2, 3)
        first = running.broker.leader_epoch
        await running.restart()
        silent = running.broker.leader_epoch
        await running.restart()
        await running.produce("orders", 4, 5)
        last = running.broker.leader_epoch
        assert await end_of(running, first) == (first, 3)
        assert await end_of(running, silent) == (first, 3)
        assert await end_of(running, last) == (last, 5)


async def test_a_consumer_that_found_a_partition_empty_has_lost_nothing() -> None:
    async with serving() as running:
        await running.create("orders")
        seen = running.broker.leader_epoch
        await running.restart()
        assert await end_of(running, seen) == (seen, 0)
        await running.produce("orders", 1, 2)
        assert await end_of(running, seen) == (seen, 0)


async def test_an_epoch_to_come_has_no_end() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1)
        assert await end_of(running, running.broker.leader_epoch + 1) == NOTHING
        assert await end_of(running, -1) == NOTHING


async def test_a_client_with_another_epoch_is_told() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.restart()
        epoch = running.broker.leader_epoch
        codes = [
            (await ask(running, 0, claimed=claimed)).error_code
            for claimed in (epoch - 1, epoch, epoch + 1)
        ]
    assert codes == [ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NONE, ErrorCode.UNKNOWN_LEADER_EPOCH]


async def test_unknown_partitions_are_told() -> None:
    async with serving() as running:
        await running.create("orders")
        topic = await ask(running, 0, topic="unknown")
        partition = await ask(running, 0, partition=1)
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (partition.leader_epoch, partition.end_offset) == NOTHING
