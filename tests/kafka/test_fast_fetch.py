"""The short way of Fetch gives the same bytes as the ordinary one, or steps aside."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.broker.broker import Broker
from riverlog.config import Address
from riverlog.kafka.apis import SLOW, Context
from riverlog.kafka.fast_fetch import QUESTIONS_MAX, FastFetch
from riverlog.kafka.fetch_sessions import FetchSessions
from riverlog.kafka.handlers import fetch
from riverlog.kafka.later import Encoded, Parked
from riverlog.protocol.codec import codec, encode
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from tests.broker.brokers import new_disk, open_broker

VERSIONS = range(4, 19)
SHORT = range(5, 19)


def context(broker: Broker, version: int, fetch_bytes_max: int = 1 << 20) -> Context:
    address = Address(host="h", port=1)
    return Context(broker, version, "test", "127.0.0.1", address, lambda: fetch_bytes_max)


async def broker_with(count: int, topic: str = "t") -> Broker:
    """A broker with so many batches of one record in one partition."""
    broker = await open_broker(new_disk())
    await broker.create_topic(topic, 1, {})
    for number in range(count):
        await append(broker, topic, number)
    return broker


async def append(broker: Broker, topic: str, number: int) -> None:
    partition = broker.partition(broker.topic(topic), 0)
    batch = build_batch([Record(0, broker.clock.now_ms(), b"k", b"%d" % number * 100)])
    durable = partition.durable(broker.append(partition, batch).end_offset)
    if durable is not None:
        await durable


def asking(
    broker: Broker,
    offset: int,
    *,
    topic: str = "t",
    bytes_max: int = 1 << 20,
    epoch: int = -1,
    read_epoch: int = -1,
    **more: Any,
) -> FetchRequest:
    asked = FetchPartition(
        partition=0,
        fetch_offset=offset,
        partition_max_bytes=bytes_max,
        current_leader_epoch=epoch,
        last_fetched_epoch=read_epoch,
    )
    named = FetchTopic(topic=topic, topic_id=broker.topic(topic).topic_id, partitions=[asked])
    fields: dict[str, Any] = {"max_wait_ms": 0, "min_bytes": 1, "topics": [named]} | more
    return FetchRequest(**fields)


class Ways:
    """Both ways to an answer, as a connection would take them."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.fast = FastFetch()
        self._handle = fetch.handler(FetchSessions(), self.fast.learn)

    def ordinary(self, request: FetchRequest, version: int, room: int = 1 << 20) -> Any:
        decoded = codec(FetchRequest, version).decode(encode(request, version))
        return self._handle(decoded, context(self.broker, version, room))

    def short(self, request: FetchRequest, version: int, room: int = 1 << 20) -> Any:
        frame = b"header" + encode(request, version)
        return self.fast.handle(frame, 6, context(self.broker, version, room))


def sent(answer: Any, version: int) -> bytes:
    return b"".join(answer.parts) if isinstance(answer, Encoded) else encode(answer, version)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("isolation_level", [0, 1])
async def test_what_was_asked_once_is_answered_alike_for_any_offset(
    version: int, isolation_level: int
) -> None:
    ways = Ways(await broker_with(3))
    first = asking(ways.broker, 0, isolation_level=isolation_level)
    assert ways.short(first, version) is SLOW
    ways.ordinary(first, version)
    for offset in range(4):
        request = asking(ways.broker, offset, isolation_level=isolation_level)
        answer = ways.short(request, version)
        assert (answer is not SLOW) == (version in SHORT)
        if answer is not SLOW:
            assert isinstance(answer, Encoded)
            assert sent(answer, version) == sent(ways.ordinary(request, version), version)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(SHORT),
    st.integers(-1, 7),
    st.integers(-1, 900),
    st.integers(0, 900),
    st.integers(0, 900),
)
def test_any_limits_give_the_same_bytes(
    version: int, offset: int, bytes_max: int, max_bytes: int, room: int
) -> None:
    async def compare() -> None:
        ways = Ways(await broker_with(6))
        request = asking(ways.broker, offset, bytes_max=bytes_max, max_bytes=max_bytes)
        ordinary = ways.ordinary(request, version, room)
        answer = ways.short(request, version, room)
        if 0 <= offset <= 6:
            assert sent(answer, version) == sent(ordinary, version)
        else:
            assert answer is SLOW

    asyncio.run(compare())


@pytest.mark.parametrize("version", [11, 12, 18])
async def test_what_is_not_common_takes_the_ordinary_way(version: int) -> None:
    ways = Ways(await broker_with(1))
    gone = ForgottenTopic(topic="t", topic_id=bytes(16), partitions=[0])
    plain = asking(ways.broker, 0)
    uncommon = [
        asking(ways.broker, 0, session_epoch=0),
        asking(ways.broker, 0, session_id=5),
        asking(ways.broker, 0, topics=[]),
        asking(ways.broker, 0, topics=[*plain.topics, *plain.topics]),
        asking(ways.broker, 0, session_id=5, session_epoch=1, forgotten_topics_data=[gone]),
    ]
    if version >= 12:
        uncommon.append(asking(ways.broker, 0, read_epoch=0))
    for request in uncommon:
        ways.ordinary(request, version)
        assert ways.short(request, version) is SLOW


async def test_another_question_is_not_taken_for_one_that_is_known() -> None:
    ways = Ways(await broker_with(1))
    ways.ordinary(asking(ways.broker, 0), 11)
    for other in (
        asking(ways.broker, 0, bytes_max=5),
        asking(ways.broker, 0, min_bytes=2),
        asking(ways.broker, 0, isolation_level=1),
        asking(ways.broker, 0, epoch=99),
        asking(ways.broker, 0, rack_id="r"),
    ):
        assert ways.short(other, 11) is SLOW
    assert ways.short(asking(ways.broker, 0), 10) is SLOW
    assert ways.short(asking(ways.broker, 0), 11) is not SLOW


@pytest.mark.parametrize(
    ("version", "code"),
    [(11, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (13, ErrorCode.UNKNOWN_TOPIC_ID)],
)
async def test_one_that_waits_gets_what_comes_and_is_told_when_the_topic_ends(
    version: int, code: ErrorCode
) -> None:
    broker = await broker_with(1)
    ways = Ways(broker)
    request = asking(broker, 1, max_wait_ms=60_000)
    ways.ordinary(request, version).cancel()
    answers = [ways.short(request, version), ways.short(request, version)]
    assert [type(answer) for answer in answers] == [Parked, Parked]
    assert [answer.look() for answer in answers] == [None, None]
    await append(broker, "t", 1)
    found = answers[0].look()
    assert isinstance(found, Encoded)
    now = asking(broker, 1)
    assert sent(found, version) == sent(ways.ordinary(now, version), version)
    await broker.delete_topic(broker.topic("t").topic_id)
    (topic,) = answers[1].look().responses
    assert topic.partitions[0].error_code == code
    assert ways.short(request, version) is SLOW


async def test_one_that_waits_for_what_is_deleted_is_told_that_it_is_gone() -> None:
    broker = await broker_with(2)
    ways = Ways(broker)
    request = asking(broker, 1, max_wait_ms=60_000, min_bytes=10_000)
    ways.ordinary(request, 11).cancel()
    answer = ways.short(request, 11)
    assert answer.look() is None
    moved = broker.partition(broker.topic("t"), 0).delete_before(2)
    assert moved is not None
    await moved
    (topic,) = answer.look().responses
    assert topic.partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_when_the_broker_stops_those_who_wait_are_answered() -> None:
    broker = await broker_with(1)
    ways = Ways(broker)
    request = asking(broker, 1, max_wait_ms=60_000)
    ways.ordinary(request, 11).cancel()
    answer = ways.short(request, 11)
    broker.stop_waiting()
    assert isinstance(answer.look(), Encoded)


async def test_questions_are_forgotten_when_there_are_too_many_or_their_topic_is_gone() -> None:
    broker = await broker_with(1)
    await broker.create_topic("other", 1, {})
    ways = Ways(broker)
    ways.ordinary(asking(broker, 0), 11)
    for number in range(QUESTIONS_MAX):
        ways.ordinary(asking(broker, 0, topic="other", bytes_max=number), 11)
    assert ways.short(asking(broker, 0), 11) is SLOW
    ways.ordinary(asking(broker, 0), 11)
    assert ways.short(asking(broker, 0), 11) is not SLOW
    gone = asking(broker, 0, topic="other", bytes_max=QUESTIONS_MAX - 1)
    assert ways.short(gone, 11) is not SLOW
    await broker.delete_topic(broker.topic("other").topic_id)
    ways.ordinary(asking(broker, 0, bytes_max=7), 11)
    assert ways.short(gone, 11) is SLOW
    assert len(ways.fast) == 1


async def test_more_than_there_is_room_for_is_not_waited_for() -> None:
    ways = Ways(await broker_with(3))
    request = asking(ways.broker, 0, max_wait_ms=60_000, min_bytes=1 << 20)
    ordinary = ways.ordinary(request, 12, room=400)
    answer = ways.short(request, 12, room=400)
    assert isinstance(answer, Encoded)
    assert sent(answer, 12) == sent(ordinary, 12)


async def test_a_topic_of_the_same_name_is_another_one() -> None:
    ways = Ways(await broker_with(3))
    request = asking(ways.broker, 0)
    ways.ordinary(request, 12)
    assert isinstance(ways.short(request, 12), Encoded)
    await ways.broker.delete_topic(ways.broker.topic("t").topic_id)
    await ways.broker.create_topic("t", 1, {})
    assert ways.short(request, 12) is SLOW
