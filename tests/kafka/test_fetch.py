"""Fetch: sessions over a real connection, topic ids, and topics that end."""

import asyncio
from time import monotonic

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from riverlog.records.batch import read_header
from tests.kafka.serving import Serving, serving

UNKNOWN_ID = b"\x07" * 16


def asking(
    *topics: FetchTopic, session: int = 0, epoch: int = -1, wait_ms: int = 0, min_bytes: int = 1
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        session_id=session,
        session_epoch=epoch,
        topics=topics,
    )


def part(index: int, offset: int = 0, epoch: int = -1, bytes_max: int = 1 << 20) -> FetchPartition:
    return FetchPartition(
        partition=index,
        fetch_offset=offset,
        current_leader_epoch=epoch,
        partition_max_bytes=bytes_max,
    )


def by_name(topic: str, *partitions: FetchPartition) -> FetchTopic:
    return FetchTopic(topic=topic, partitions=partitions)


def by_id(topic_id: bytes, *partitions: FetchPartition) -> FetchTopic:
    return FetchTopic(topic_id=topic_id, partitions=partitions)


def answers(response: FetchResponse) -> list[PartitionData]:
    return [answer for topic in response.responses for answer in topic.partitions]


def first_offset(answer: PartitionData) -> int:
    assert answer.records
    return read_header(answer.records).base_offset


@pytest.mark.parametrize("version", range(4, 19))
async def test_every_version_reads_what_was_written(version: int) -> None:
    async with serving() as running:
        topic_id = (await running.create("orders")).topic_id
        await running.produce("orders", 1, 2)
        wanted = part(0), part(1)
        topic = by_id(topic_id, *wanted) if version >= 13 else by_name("orders", *wanted)
        response = await running.ask(asking(topic), version)
    there, missing = answers(response)
    assert first_offset(there) == 0
    assert (there.error_code, there.high_watermark) == (ErrorCode.NONE, 2)
    assert missing.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert response.session_id == 0


@pytest.mark.parametrize("version", [7, 12, 13, 17])
async def test_a_session_names_only_what_changes(version: int) -> None:
    async with serving() as running:
        topic_id = (await running.create("orders", partitions=3)).topic_id

        def topic(*parts: FetchPartition) -> FetchTopic:
            return by_id(topic_id, *parts) if version >= 13 else by_name("orders", *parts)

        full = await running.ask(asking(topic(part(0), part(1), part(2)), epoch=0), version)
        session = full.session_id
        assert session > 0
        assert len(answers(full)) == 3
        await running.produce("orders", 1, partition=1)
        (changed,) = answers(await running.ask(asking(session=session, epoch=1), version))
        assert (changed.partition_index, first_offset(changed)) == (1, 0)
        next_ = asking(topic(part(1, offset=1)), session=session, epoch=2)
        assert answers(await running.ask(next_, version)) == []
        wrong = await running.ask(asking(session=session, epoch=2), version)
        assert wrong.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        unknown = await running.ask(asking(session=session ^ 1, epoch=3), version)
        assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


async def test_a_session_waits_for_records_like_any_other() -> None:
    async with serving() as running:
        await running.create("orders", partitions=2)
        topic = by_name("orders", part(0), part(1))
        session = (await running.ask(asking(topic, epoch=0), 11)).session_id
        waiting = asking(session=session, epoch=1, wait_ms=10_000)
        consumer = await running.connect()
        consumer.send(waiting, 11)
        await asyncio.sleep(0.05)
        await running.produce("orders", 1, partition=1)
        _, response = await asyncio.wait_for(consumer.receive(waiting, 11), 5)
    (changed,) = answers(response)
    assert changed.partition_index == 1


async def test_a_session_with_nothing_new_is_answered_when_its_time_is_up() -> None:
    async with serving() as running:
        await running.create("orders")
        session = (await running.ask(asking(by_name("orders", part(0)), epoch=0), 11)).session_id
        started = monotonic()
        response = await running.ask(asking(session=session, epoch=1, wait_ms=100), 11)
        assert monotonic() - started >= 0.1
    assert (response.session_id, answers(response)) == (session, [])


async def test_sessions_do_not_outlive_the_broker() -> None:
    async with serving() as running:
        await running.create("orders")
        session = (await running.ask(asking(by_name("orders", part(0)), epoch=0), 11)).session_id
        await running.restart()
        response = await running.ask(asking(session=session, epoch=1), 11)
    assert response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


async def test_a_large_partition_does_not_starve_the_others_of_a_session() -> None:
    async with serving() as running:
        await running.create("orders", partitions=2)
        for partition in (0, 1):
            for _ in range(3):
                await running.produce("orders", 1, partition=partition)
        topic = by_name("orders", part(0, bytes_max=1), part(1, bytes_max=1))
        request = asking(topic, epoch=0)
        request.max_bytes = 1
        first = await running.ask(request, 11)
        assert [len(answer.records or b"") > 0 for answer in answers(first)] == [True, False]
        request = asking(session=first.session_id, epoch=1)
        request.max_bytes = 1
        await running.ask(request, 11)
        request.session_epoch = 2
        third = await running.ask(request, 11)
    assert [answer.partition_index for answer in answers(third) if answer.records] == [1]


async def test_an_unknown_topic_id_is_told_for_each_partition() -> None:
    async with serving() as running:
        topic_id = (await running.create("orders")).topic_id
        request = asking(by_id(UNKNOWN_ID, part(0), part(1)), by_id(topic_id, part(0)))
        response = await running.ask(request, 13)
    assert [topic.topic_id for topic in response.responses] == [UNKNOWN_ID, topic_id]
    assert [answer.error_code for answer in answers(response)] == [
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NONE,
    ]


async def test_a_client_with_another_epoch_is_told() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.restart()
        epoch = running.broker.leader_epoch
        codes = []
        for claimed in (epoch - 1, epoch, epoch + 1):
            request = asking(by_name("orders", part(0, epoch=claimed)))
            codes += [a.error_code for a in answers(await running.ask(request, 12))]
    assert codes == [ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NONE, ErrorCode.UNKNOWN_LEADER_EPOCH]


@pytest.mark.parametrize(
    ("isolation_level", "wanted", "aborted"),
    [(0, part(0), None), (1, part(0), []), (1, part(0, offset=5), None), (0, part(9), [])],
)
async def test_aborted_transactions_are_a_list_where_somebody_looked_for_some(
    isolation_level: int, wanted: FetchPartition, aborted: list[object] | None
) -> None:
    async with serving() as running:
        await running.create("orders")
        request = asking(by_name("orders", wanted))
        request.isolation_level = isolation_level
        (answer,) = answers(await running.ask(request, 12))
    assert answer.aborted_transactions == aborted


async def reading_from(
    running: Serving, offset: int, epoch: int, **rest: int
) -> list[PartitionData]:
    """What a client is told that read up to an offset, last in this epoch."""
    wanted = part(0, offset=offset)
    wanted.last_fetched_epoch = epoch
    return answers(await running.ask(asking(by_name("orders", wanted), **rest), 12))


async def test_who_read_further_than_its_epoch_goes_is_told_where_that_ended() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1, 2)
        before = running.broker.leader_epoch
        await running.restart()
        await running.produce("orders", 3, 4)
        (right,) = await reading_from(running, 2, before)
        (further,) = await reading_from(running, 3, before)
        (beyond,) = await asyncio.wait_for(reading_from(running, 5, before + 1, wait_ms=10_000), 5)
        (unknown,) = await reading_from(running, 2, before + 2)
    assert (first_offset(right), right.diverging_epoch) == (2, None)
    assert further.diverging_epoch == EpochEndOffset(epoch=before, end_offset=2)
    assert (further.error_code, further.high_watermark, further.records) == (0, 4, b"")
    assert beyond.diverging_epoch == EpochEndOffset(epoch=before + 1, end_offset=4)
    assert unknown.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_a_session_is_told_of_an_epoch_that_ended_as_often_as_it_asks() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1)
        epoch = running.broker.leader_epoch
        wanted = part(0, offset=7)
        wanted.last_fetched_epoch = epoch
        full = await running.ask(asking(by_name("orders", wanted), epoch=0), 12)
        (again,) = answers(await running.ask(asking(session=full.session_id, epoch=1), 12))
    assert again.diverging_epoch == EpochEndOffset(epoch=epoch, end_offset=1)


@pytest.mark.parametrize(
    ("version", "code"),
    [(12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (13, ErrorCode.UNKNOWN_TOPIC_ID)],
)
async def test_who_waits_for_a_topic_that_ends_is_told_at_once(
    version: int, code: ErrorCode
) -> None:
    async with serving() as running:
        topic_id = (await running.create("orders")).topic_id
        topic = by_id(topic_id, part(0)) if version >= 13 else by_name("orders", part(0))
        request = asking(topic, wait_ms=10_000)
        asked = asyncio.ensure_future(running.ask(request, version))
        await asyncio.sleep(0.05)
        await running.broker.delete_topic(topic_id)
        (answer,) = answers(await asyncio.wait_for(asked, 5))
    assert answer.error_code == code
