"""DeleteTopics: by name and by id, and what is left afterwards."""

import asyncio

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from riverlog.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from riverlog.protocol.schema import ZERO_UUID
from tests.kafka.serving import Serving, serving

BY_NAME = range(1, 6)
UNKNOWN_ID = b"\x07" * 16


async def delete(running: Serving, *states: DeleteTopicState) -> list[DeletableTopicResult]:
    request = DeleteTopicsRequest(topics=states, timeout_ms=1000)
    return list((await running.ask(request, 6)).responses)


@pytest.mark.parametrize("version", BY_NAME)
async def test_every_earlier_version_deletes_by_name(version: int) -> None:
    async with serving() as running:
        await running.create("orders")
        request = DeleteTopicsRequest(topic_names=["orders", "other"], timeout_ms=1000)
        orders, other = (await running.ask(request, version)).responses
        assert len(running.broker.topics) == 0
    assert (orders.name, orders.error_code) == ("orders", ErrorCode.NONE)
    assert (other.name, other.error_code) == ("other", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert (other.error_message is not None) == (version >= 5)


async def test_a_topic_is_deleted_by_its_id() -> None:
    async with serving() as running:
        topic_id = (await running.create("orders")).topic_id
        (result,) = await delete(running, DeleteTopicState(topic_id=topic_id))
        assert len(running.broker.topics) == 0
    assert (result.name, result.topic_id, result.error_code) == ("orders", topic_id, 0)


async def test_both_name_and_id_are_told_of_a_topic_deleted_by_name() -> None:
    async with serving() as running:
        topic_id = (await running.create("orders")).topic_id
        (result,) = await delete(running, DeleteTopicState(name="orders"))
    assert (result.name, result.topic_id, result.error_code) == ("orders", topic_id, 0)


async def test_one_refusal_hinders_no_other() -> None:
    async with serving() as running:
        topic_id = (await running.create("orders")).topic_id
        await running.create("others")
        results = await delete(
            running,
            DeleteTopicState(name="unknown"),
            DeleteTopicState(topic_id=UNKNOWN_ID),
            DeleteTopicState(name="orders", topic_id=topic_id),
            DeleteTopicState(name="orders", topic_id=UNKNOWN_ID),
            DeleteTopicState(name=None, topic_id=ZERO_UUID),
            DeleteTopicState(name="others"),
        )
        assert [topic.name for topic in running.broker.topics] == ["orders"]
    assert [result.error_code for result in results] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NONE,
    ]
    assert results[1].topic_id == UNKNOWN_ID


async def test_a_topic_named_twice_is_not_deleted() -> None:
    async with serving() as running:
        topic_id = (await running.create("orders")).topic_id
        results = await delete(
            running, DeleteTopicState(name="orders"), DeleteTopicState(topic_id=topic_id)
        )
        assert len(running.broker.topics) == 1
    assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST] * 2


async def test_the_reply_waits_for_the_disk_and_outlives_a_power_cut() -> None:
    async with serving() as running:
        await running.create("orders")
        running.syncer.hold()
        asked = asyncio.ensure_future(delete(running, DeleteTopicState(name="orders")))
        await asyncio.sleep(0.05)
        assert not asked.done()
        assert len(running.broker.topics) == 1
        running.syncer.let_go()
        assert (await asked)[0].error_code == ErrorCode.NONE
        await running.cut_power()
        assert len(running.broker.topics) == 0


async def test_a_topic_of_the_same_name_is_another_and_empty() -> None:
    async with serving() as running:
        old = await running.create("orders")
        await running.produce("orders", 1, 2, 3)
        await delete(running, DeleteTopicState(name="orders"))
        new = await running.create("orders")
        assert new.topic_id != old.topic_id
        assert await running.produce("orders", 4) == 0
        (result,) = await delete(running, DeleteTopicState(topic_id=old.topic_id))
        assert result.error_code == ErrorCode.UNKNOWN_TOPIC_ID
        await running.cut_power()
        log = running.broker.partition(running.broker.topic("orders"), 0)
        assert log.high_watermark == 1


async def test_of_two_requests_of_one_version_each_has_its_own_header() -> None:
    """CreateTopics v4 has the header without tags, DeleteTopics v4 the one with them."""
    topic = CreatableTopic(
        name="orders", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    async with serving() as running:
        await running.ask(CreateTopicsRequest(topics=[topic]), 4)
        request = DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000)
        (result,) = (await running.ask(request, 4)).responses
    assert result.error_code == ErrorCode.NONE
