"""Metadata: topics that come into being when they are first asked for."""

import asyncio
from collections.abc import Sequence

import pytest

from riverlog.config import BrokerSettings
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.serving import Serving, serving

ORDERS = MetadataRequest(topics=[MetadataRequestTopic(name="orders")])


async def describe(
    running: Serving, *names: str, version: int = 12, allowed: bool = True
) -> Sequence[MetadataResponseTopic]:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=allowed,
    )
    response: MetadataResponse = await running.ask(request, version)
    return response.topics


@pytest.mark.parametrize("version", range(14))
async def test_an_unknown_topic_is_made_and_led_in_the_same_reply(version: int) -> None:
    async with serving() as running:
        (topic,) = await describe(running, "orders", version=version)
        made = running.broker.topic("orders")
        epoch = running.broker.leader_epoch
    assert topic.error_code == ErrorCode.NONE
    assert [partition.partition_index for partition in topic.partitions] == [0, 1, 2, 3]
    assert {partition.leader_id for partition in topic.partitions} == {1}
    assert {p.leader_epoch for p in topic.partitions} == {epoch if version >= 7 else -1}
    if version >= 10:
        assert topic.topic_id == made.topic_id


async def test_it_is_durable_before_it_is_told() -> None:
    async with serving() as running:
        running.syncer.hold()
        asked = asyncio.ensure_future(describe(running, "orders"))
        await asyncio.sleep(0.05)
        assert not asked.done()
        running.syncer.let_go()
        (told,) = await asked
        await running.cut_power()
        assert running.broker.topic("orders").topic_id == told.topic_id


async def test_two_clients_that_ask_at_once_get_the_same_topic() -> None:
    async with serving() as running:
        running.syncer.hold()
        clients = [await running.connect() for _ in range(3)]
        for client in clients:
            client.send(ORDERS, 12)
        await asyncio.sleep(0.05)
        running.syncer.let_go()
        replies = [(await client.receive(ORDERS, 12))[1] for client in clients]
    assert {reply.topics[0].error_code for reply in replies} == {ErrorCode.NONE}
    assert len({reply.topics[0].topic_id for reply in replies}) == 1


async def test_clients_that_waited_for_a_creation_that_failed_are_told() -> None:
    async with serving() as running:
        running.syncer.hold()
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
        clients = [await running.connect() for _ in range(2)]
        for client in clients:
            client.send(ORDERS, 12)
        await asyncio.sleep(0.05)
        running.syncer.let_go()
        codes = [(await c.receive(ORDERS, 12))[1].topics[0].error_code for c in clients]
        (again,) = await describe(running, "orders")
    assert codes == [ErrorCode.KAFKA_STORAGE_ERROR] * 2
    assert again.error_code == ErrorCode.NONE


async def test_a_client_may_ask_without_making_anything() -> None:
    async with serving() as running:
        (topic,) = await describe(running, "orders", allowed=False)
        assert len(running.broker.topics) == 0
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_broker_may_be_told_not_to_make_topics() -> None:
    async with serving(BrokerSettings(auto_create_topics=False)) as running:
        (topic,) = await describe(running, "orders")
        assert len(running.broker.topics) == 0
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_topic_has_as_many_partitions_as_the_settings_say() -> None:
    async with serving(BrokerSettings(num_partitions=2)) as running:
        (topic,) = await describe(running, "orders")
    assert len(topic.partitions) == 2


async def test_names_that_cannot_be_hinder_no_others() -> None:
    async with serving() as running:
        await running.create("a.b")
        topics = await describe(running, "bad name", "a_b", "good", "", "good")
    assert [topic.error_code for topic in topics] == [
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.NONE,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]


async def test_asking_for_all_topics_or_by_id_makes_none() -> None:
    by_id = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=b"\x07" * 16)])
    async with serving() as running:
        await running.ask(MetadataRequest(topics=None), 12)
        response = await running.ask(by_id, 12)
        assert len(running.broker.topics) == 0
    assert response.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_the_leader_epoch_rises_with_every_start() -> None:
    async with serving() as running:
        (before,) = await describe(running, "orders")
        await running.restart()
        (after,) = await describe(running, "orders")
    assert after.topic_id == before.topic_id
    assert after.partitions[0].leader_epoch > before.partitions[0].leader_epoch
