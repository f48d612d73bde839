"""The short way of Produce gives the same bytes as the ordinary one, or steps aside."""

import asyncio
from random import Random
from typing import Any

import pytest

from riverlog.broker.broker import Broker
from riverlog.config import Address
from riverlog.kafka.apis import SLOW, Context
from riverlog.kafka.fast_produce import FastProduce
from riverlog.kafka.handlers import produce
from riverlog.kafka.later import Encoded, HangUp, Later
from riverlog.protocol.codec import codec, decode, encode
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from riverlog.protocol.wire import WireError
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from tests.broker.brokers import new_disk, open_broker

VERSIONS = range(3, 14)


def context(broker: Broker, version: int) -> Context:
    return Context(broker, version, "test", "127.0.0.1", Address(host="h", port=1))


def request(broker: Broker, *, acks: int = -1, index: int = 0, topic: str = "t") -> ProduceRequest:
    batch = build_batch([Record(0, broker.clock.now_ms(), b"k", b"v")])
    data = PartitionProduceData(index=index, records=batch)
    made = broker.topics.by_name(topic)
    topic_id = bytes(16) if made is None else made.topic_id
    topics = [TopicProduceData(name=topic, topic_id=topic_id, partition_data=[data])]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=topics)


async def answered(answer: Any, version: int) -> bytes | None:
    """What would be sent for an answer, once it is there."""
    while isinstance(answer, Later):
        if answer.is_done:
            answer = answer.answer
        else:
            await asyncio.sleep(0)
    if answer is None:
        return None
    if isinstance(answer, Encoded):
        return b"".join(answer.parts)
    return encode(answer, version)


async def two_brokers() -> tuple[Broker, Broker]:
    # Both give the same ids, by which topics are named from version 13 on.
    brokers = await open_broker(new_disk()), await open_broker(new_disk())
    for broker in brokers:
        await broker.create_topic("t", 2, {})
        await broker.create_topic("compacted", 1, {"cleanup.policy": "compact"})
        await broker.create_topic("stamped", 1, {"message.timestamp.type": "LogAppendTime"})
    return brokers


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("acks", [-1, 0, 1])
async def test_both_ways_answer_alike(version: int, acks: int) -> None:
    one, other = await two_brokers()
    fast = FastProduce()
    for _ in range(3):
        asked = request(one, acks=acks)
        frame = b"header" + encode(asked, version)
        quick = fast.handle(frame, 6, context(one, version))
        assert quick is not SLOW
        ordinary = produce.handle(asked, context(other, version))
        assert await answered(quick, version) == await answered(ordinary, version)


def refused_requests(broker: Broker, acks: int = -1) -> list[ProduceRequest]:
    """One with a damaged batch, one without a sequence, one without a key that it needs."""
    damaged = request(broker, acks=acks)
    (topic,) = damaged.topic_data
    (data,) = topic.partition_data
    assert data.records is not None
    data.records = bytes(data.records[:-1]) + b"?"
    unordered = request(broker, acks=acks)
    records = [Record(0, broker.clock.now_ms(), None, b"v")]
    unordered.topic_data[0].partition_data[0].records = build_batch(records, producer_id=5)
    keyless = request(broker, acks=acks, topic="compacted")
    keyless.topic_data[0].partition_data[0].records = build_batch(records)
    return [damaged, unordered, keyless]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_refusal_says_the_same_either_way(version: int) -> None:
    one, other = await two_brokers()
    for asked in refused_requests(one):
        quick = FastProduce().handle(encode(asked, version), 0, context(one, version))
        assert quick is not SLOW
        ordinary = produce.handle(asked, context(other, version))
        assert await answered(quick, version) == await answered(ordinary, version)


async def test_a_refusal_without_acks_breaks_the_connection_either_way() -> None:
    broker, _ = await two_brokers()
    for asked in refused_requests(broker, acks=0):
        with pytest.raises(HangUp):
            FastProduce().handle(encode(asked, 9), 0, context(broker, 9))
        with pytest.raises(HangUp):
            produce.handle(asked, context(broker, 9))


async def test_append_time_is_answered() -> None:
    broker, _ = await two_brokers()
    frame = encode(request(broker, topic="stamped"), 9)
    sent = await answered(FastProduce().handle(frame, 0, context(broker, 9)), 9)
    assert sent is not None
    response = decode(ProduceResponse, 9, sent)
    assert response.responses[0].partition_responses[0].log_append_time_ms > 0


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_is_not_common_takes_the_ordinary_way(version: int) -> None:
    broker, _ = await two_brokers()
    fast = FastProduce()
    two = request(broker)
    two.topic_data = [*two.topic_data, *request(broker, index=1).topic_data]
    transactional = request(broker)
    transactional.transactional_id = "x"
    for uncommon in (
        two,
        transactional,
        request(broker, topic="unknown"),
        request(broker, index=9),
        request(broker, acks=2),
    ):
        assert fast.handle(encode(uncommon, version), 0, context(broker, version)) is SLOW


@pytest.mark.parametrize("version", [9, 13])
async def test_a_deleted_topic_is_not_answered_for(version: int) -> None:
    broker, _ = await two_brokers()
    fast = FastProduce()
    frame = encode(request(broker), version)
    assert fast.handle(frame, 0, context(broker, version)) is not SLOW
    await broker.delete_topic(broker.topic("t").topic_id)
    assert fast.handle(frame, 0, context(broker, version)) is SLOW


@pytest.mark.parametrize("version", VERSIONS)
async def test_no_bytes_pass_the_short_way_that_the_tables_would_refuse(version: int) -> None:
    broker, _ = await two_brokers()
    chance = Random(version)
    good = encode(request(broker), version)
    for _ in range(500):
        frame = bytearray(
            good[: chance.randrange(len(good) + 1)] if chance.random() < 0.3 else good
        )
        for _ in range(chance.randrange(3)):
            if frame:
                frame[chance.randrange(len(frame))] = chance.randrange(256)
        data = bytes(frame)
        if FastProduce().handle(data, 0, context(broker, version)) is SLOW:
            continue
        try:
            codec(ProduceRequest, version).decode(data)
        except WireError:
            pytest.fail(f"{data.hex()} was taken by the short way")
