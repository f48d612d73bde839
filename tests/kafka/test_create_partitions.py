"""CreatePartitions: topics that grow, durably; what is refused."""

import asyncio
from collections.abc import Sequence

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.kafka.serving import Serving, serving


def more(
    name: str, count: int, assignments: Sequence[Sequence[int]] | None = None
) -> CreatePartitionsTopic:
    placed = None
    if assignments is not None:
        placed = [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=placed)


async def grow(
    running: Serving, *topics: CreatePartitionsTopic, version: int = 3, validate_only: bool = False
) -> dict[str, tuple[int, str | None]]:
    request = CreatePartitionsRequest(topics=topics, timeout_ms=1, validate_only=validate_only)
    results = (await running.ask(request, version)).results
    return {result.name: (result.error_code, result.error_message) for result in results}


def count_of(running: Serving, topic: str) -> int:
    return running.broker.topic(topic).partition_count


@pytest.mark.parametrize("version", range(4))
async def test_every_version_makes_more_and_they_can_be_used(version: int) -> None:
    async with serving() as running:
        await running.create("orders", 2)
        assert await grow(running, more("orders", 5), version=version) == {"orders": (0, None)}
        assert count_of(running, "orders") == 5
        assert await running.produce("orders", 1, partition=4) == 0


async def test_a_grown_topic_outlives_a_power_cut_with_all_its_records() -> None:
    async with serving() as running:
        await running.create("orders", 1)
        await running.produce("orders", 1, 2)
        await grow(running, more("orders", 2))
        await running.produce("orders", 3, partition=1)
        await running.cut_power()
        assert count_of(running, "orders") == 2
        assert await running.produce("orders", 4) == 2
        assert await running.produce("orders", 5, partition=1) == 1


async def test_the_reply_waits_for_the_disk() -> None:
    async with serving() as running:
        await running.create("orders", 1)
        running.syncer.hold()
        asked = asyncio.ensure_future(grow(running, more("orders", 2)))
        await asyncio.sleep(0.05)
        assert not asked.done()
        assert count_of(running, "orders") == 1
        running.syncer.let_go()
        assert await asked == {"orders": (0, None)}


async def test_only_checking_makes_nothing() -> None:
    async with serving() as running:
        await running.create("orders", 2)
        good = await grow(running, more("orders", 3), validate_only=True)
        bad = await grow(running, more("orders", 2), validate_only=True)
        assert count_of(running, "orders") == 2
    assert (good["orders"][0], bad["orders"][0]) == (0, ErrorCode.INVALID_PARTITIONS)


@pytest.mark.parametrize(
    ("refused", "code", "reason"),
    [
        (more("orders", 2), 37, "Topic already has 2 partition(s)."),
        (more("orders", 1), 37, "currently has 2 partition(s); 1 would not be an increase."),
        (more("orders", -1), 37, "would not be an increase."),
        (more("orders", 10_003), 44, "large number of partitions"),
        (more("orders", 2**31 - 1), 37, "100000"),
        (more("nowhere", 3), 3, None),
        (more("__consumer_offsets", 9), 17, "broker's own"),
        (more("orders", 3, []), 39, "add 1 additional partition(s), but only 0 assignment(s)"),
        (more("orders", 4, [[1]]), 39, "add 2 additional partition(s), but only 1 assignment(s)"),
        (more("orders", 3, [[1], [1]]), 39, "but only 2 assignment(s)"),
        (more("orders", 3, [[2]]), 39, "includes broker 2, but no such broker is registered."),
        (more("orders", 3, [[1, 2]]), 39, "includes broker 2"),
        (more("orders", 3, [[]]), 39, "an empty replica list"),
        (more("orders", 3, [[1, 1]]), 39, "the broker 1 more than once"),
    ],
)
async def test_what_cannot_be_is_refused_with_the_reason_and_hinders_no_other(
    refused: CreatePartitionsTopic, code: int, reason: str | None
) -> None:
    async with serving() as running:
        await running.create("orders", 2)
        await running.create("good", 1)
        replies = await grow(running, refused, more("good", 2))
        assert (count_of(running, "orders"), count_of(running, "good")) == (2, 2)
    found, message = replies[refused.name]
    assert found == code
    assert (reason is None) == (message is None)
    assert (reason or "") in (message or "")
    assert replies["good"] == (0, None)


@pytest.mark.parametrize(
    ("orders", "other", "taken"),
    [(10_002, 1, (0, 37)), (10_002, 2, (0, 44)), (5_002, 5_001, (0, 0)), (10_003, 10_001, (44, 0))],
)
async def test_a_request_adds_ten_thousand_partitions_at_most(
    orders: int, other: int, taken: tuple[int, int]
) -> None:
    async with serving() as running:
        await running.create("orders", 2)
        await running.create("other", 1)
        wanted = more("orders", orders), more("other", other)
        replies = await grow(running, *wanted, validate_only=True)
    assert (replies["orders"][0], replies["other"][0]) == taken


async def test_a_topic_that_is_just_being_made_has_the_same_bound() -> None:
    async with serving() as running:
        running.syncer.hold()
        made = asyncio.ensure_future(running.broker.create_topic("orders", 2, {}))
        await asyncio.sleep(0.05)
        grown = asyncio.ensure_future(grow(running, more("orders", 10_003)))
        await asyncio.sleep(0.05)
        running.syncer.let_go()
        await made
        assert (await grown)["orders"][0] == ErrorCode.POLICY_VIOLATION
        assert count_of(running, "orders") == 2


async def test_a_topic_has_a_hundred_thousand_partitions_at_most() -> None:
    async with serving() as running:
        await running.broker.create_topic("orders", 99_999, {})
        (most,) = (await grow(running, more("orders", 100_000))).values()
        (beyond,) = (await grow(running, more("orders", 100_001))).values()
    assert most == (0, None)
    assert beyond[0] == ErrorCode.INVALID_PARTITIONS
    assert "100000" in str(beyond[1])


async def test_partitions_may_be_assigned_to_this_broker_by_hand() -> None:
    async with serving() as running:
        await running.create("orders", 1)
        assert await grow(running, more("orders", 3, [[1], [1]])) == {"orders": (0, None)}
        assert count_of(running, "orders") == 3


async def test_a_name_twice_in_a_request_grows_by_neither() -> None:
    async with serving() as running:
        await running.create("orders", 1)
        replies = await grow(running, more("orders", 2), more("orders", 3))
        assert count_of(running, "orders") == 1
    assert replies == {"orders": (ErrorCode.INVALID_REQUEST, "Duplicate topic name.")}
