"""CreateTopics: what is made, what is refused, and when the reply leaves."""

import asyncio
from collections.abc import Sequence

import pytest

from riverlog.config import BrokerSettings
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from riverlog.protocol.schema import ZERO_UUID
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.serving import Serving, serving

VERSIONS = range(2, 8)


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    assignments: dict[int, list[int]] | None = None,
    configs: dict[str, str | None] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignments or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
    )


async def create(
    running: Serving, *topics: CreatableTopic, version: int = 7, validate_only: bool = False
) -> list[CreatableTopicResult]:
    request = CreateTopicsRequest(topics=topics, validate_only=validate_only)
    return list((await running.ask(request, version)).topics)


def names(running: Serving) -> Sequence[str]:
    return [topic.name for topic in running.broker.topics]


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_version_makes_a_topic(version: int) -> None:
    async with serving() as running:
        (result,) = await create(running, topic("orders", 3), version=version)
        made = running.broker.topic("orders")
    assert result.error_code == ErrorCode.NONE
    assert made.partition_count == 3
    assert result.topic_id == (made.topic_id if version >= 7 else ZERO_UUID)
    assert result.num_partitions == (3 if version >= 5 else -1)
    assert result.replication_factor == (1 if version >= 5 else -1)


async def test_a_topic_outlives_a_power_cut_after_the_reply() -> None:
    async with serving() as running:
        (result,) = await create(running, topic("orders", 2))
        await running.cut_power()
        assert running.broker.topic("orders").topic_id == result.topic_id


async def test_the_reply_waits_for_the_disk() -> None:
    async with serving() as running:
        running.syncer.hold()
        asked = asyncio.ensure_future(create(running, topic("orders")))
        await asyncio.sleep(0.05)
        assert running.syncer.held_count == 1
        assert not asked.done()
        assert names(running) == []
        running.syncer.let_go()
        (result,) = await asked
    assert result.error_code == ErrorCode.NONE


async def test_topics_of_one_request_share_one_sync() -> None:
    async with serving() as running:
        running.syncer.hold()
        asked = asyncio.ensure_future(create(running, *(topic(f"t{n}") for n in range(10))))
        await asyncio.sleep(0.05)
        assert running.syncer.held_count == 1
        running.syncer.let_go()
        assert [result.error_code for result in await asked] == [0] * 10


async def test_minus_one_stands_for_the_defaults() -> None:
    async with serving(BrokerSettings(num_partitions=7)) as running:
        (result,) = await create(running, topic("orders", -1, -1))
    assert (result.num_partitions, result.replication_factor) == (7, 1)


async def test_only_checking_makes_nothing() -> None:
    async with serving() as running:
        good, bad = await create(running, topic("orders", 3), topic("bad name"), validate_only=True)
        assert names(running) == []
    assert (good.error_code, good.num_partitions, good.topic_id) == (0, 3, ZERO_UUID)
    assert bad.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_the_reply_tells_what_was_set_and_what_the_defaults_are() -> None:
    given: dict[str, str | None] = {
        "retention.ms": "1000",
        "message.timestamp.type": "LogAppendTime",
    }
    async with serving() as running:
        (result,) = await create(running, topic("orders", configs=given))
    configs = {c.name: (c.value, c.config_source) for c in result.configs or ()}
    assert configs["retention.ms"] == ("1000", 1)
    assert configs["message.timestamp.type"] == ("LogAppendTime", 1)
    assert configs["max.message.bytes"] == ("1048588", 5)


@pytest.mark.parametrize(
    ("refused", "code", "reason"),
    [
        (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION, "empty"),
        (topic("no spaces"), ErrorCode.INVALID_TOPIC_EXCEPTION, "alphanumerics"),
        (topic("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION, "249"),
        (topic("taken"), ErrorCode.TOPIC_ALREADY_EXISTS, "already exists"),
        (topic("new", 0), ErrorCode.INVALID_PARTITIONS, "positive"),
        (topic("new", -2), ErrorCode.INVALID_PARTITIONS, "positive"),
        (topic("new", factor=0), ErrorCode.INVALID_REPLICATION_FACTOR, "1"),
        (topic("new", factor=-2), ErrorCode.INVALID_REPLICATION_FACTOR, "1"),
        (
            topic("new", factor=3),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Unable to replicate the partition 3 time(s): The target replication factor of 3 "
            "cannot be reached because only 1 broker(s) are registered.",
        ),
        (topic("new", configs={"no.such": "1"}), ErrorCode.INVALID_CONFIG, "no.such"),
        (topic("new", configs={"segment.bytes": "x"}), ErrorCode.INVALID_CONFIG, "segment.bytes"),
        (topic("new", configs={"retention.ms": None}), ErrorCode.INVALID_CONFIG, "retention.ms"),
        (topic("new", -1, -1, {0: [2]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker 2"),
        (topic("new", -1, -1, {0: [1, 2]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "broker 2"),
        (topic("new", -1, -1, {0: [1, 1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "more than once"),
        (topic("new", -1, -1, {0: []}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "empty"),
        (topic("new", -1, -1, {1: [1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "0-based"),
        (topic("new", -1, -1, {0: [1], 2: [1]}), ErrorCode.INVALID_REPLICA_ASSIGNMENT, "0-based"),
        (topic("new", 1, -1, {0: [1]}), ErrorCode.INVALID_REQUEST, "numPartitions"),
        (topic("new", -1, 1, {0: [1]}), ErrorCode.INVALID_REQUEST, "replication factor"),
    ],
)
async def test_what_cannot_be_is_refused_with_the_reason_and_hinders_no_other(
    refused: CreatableTopic, code: ErrorCode, reason: str
) -> None:
    async with serving() as running:
        await running.create("taken")
        first, second = await create(running, refused, topic("good"))
        assert sorted(names(running)) == ["good", "taken"]
    assert first.error_code == code
    assert reason in (first.error_message or "")
    assert second.error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("first", "second", "is_taken"),
    [(2**31 - 1, 1, False), (5_001, 5_000, False), (10_000, -1, False), (9_000, 1_000, True)],
)
async def test_a_request_makes_ten_thousand_partitions_at_most(
    first: int, second: int, is_taken: bool
) -> None:
    async with serving(BrokerSettings(num_partitions=1)) as running:
        results = await create(running, topic("a", first), topic("b", second), validate_only=True)
    code = ErrorCode.NONE if is_taken else ErrorCode.POLICY_VIOLATION
    assert [result.error_code for result in results] == [code, code]


async def test_a_topic_of_fewer_than_none_makes_no_room_for_another() -> None:
    async with serving() as running:
        wanted = topic("a", 10_001), topic("b", -10_000)
        results = await create(running, *wanted, validate_only=True)
    assert {result.error_code for result in results} == {ErrorCode.POLICY_VIOLATION}


async def test_partitions_may_be_assigned_to_this_broker_by_hand() -> None:
    async with serving() as running:
        (result,) = await create(running, topic("orders", -1, -1, {1: [1], 0: [1], 2: [1]}))
    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 3)


async def test_a_name_twice_in_a_request_is_made_by_neither() -> None:
    async with serving() as running:
        results = await create(running, topic("twice", 1), topic("once"), topic("twice", 2))
        assert names(running) == ["once"]
    assert {(result.name, result.error_code) for result in results} == {
        ("once", ErrorCode.NONE),
        ("twice", ErrorCode.INVALID_REQUEST),
    }


async def test_a_disk_that_fails_is_told_and_leaves_no_topic() -> None:
    async with serving() as running:
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        (result,) = await create(running, topic("orders"))
        assert names(running) == []
        (again,) = await create(running, topic("orders"))
    assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert again.error_code == ErrorCode.NONE
