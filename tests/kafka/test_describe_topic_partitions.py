"""DescribeTopicPartitions: topics by name, page after page."""

from typing import Any

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from riverlog.protocol.schema import ZERO_UUID
from tests.kafka.serving import Serving, serving

EVERYTHING = 3576
At = tuple[str, int] | None


async def create_topics(running: Serving) -> None:
    for name, count in (("b", 4), ("a", 2), ("c", 2)):
        await running.create(name, count)


async def ask(running: Serving, *names: str, limit: int = 2000, at: At = None) -> Any:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if at is None else Cursor(topic_name=at[0], partition_index=at[1]),
    )
    return await running.ask(request, 0)


def page(response: Any) -> tuple[list[tuple[str, list[int]]], At]:
    """Topics with the partitions that came, and where the next page begins."""
    topics = [(t.name, [p.partition_index for p in t.partitions]) for t in response.topics]
    cursor = response.next_cursor
    return topics, None if cursor is None else (cursor.topic_name, cursor.partition_index)


async def test_a_topic_is_told_in_full() -> None:
    async with serving() as running:
        made = await running.create("orders", 2)
        (topic,) = (await ask(running, "orders")).topics
        epoch = running.broker.leader_epoch
    assert (topic.error_code, topic.name, topic.topic_id) == (0, "orders", made.topic_id)
    assert (topic.is_internal, topic.topic_authorized_operations) == (False, EVERYTHING)
    for index, partition in enumerate(topic.partitions):
        assert (partition.error_code, partition.partition_index) == (0, index)
        assert (partition.leader_id, partition.leader_epoch) == (1, epoch)
        assert (list(partition.replica_nodes), list(partition.isr_nodes)) == ([1], [1])
        assert list(partition.eligible_leader_replicas) == list(partition.last_known_elr) == []
        assert list(partition.offline_replicas) == []


@pytest.mark.parametrize(
    ("names", "limit", "at", "topics", "following"),
    [
        ((), 2000, None, [("a", [0, 1]), ("b", [0, 1, 2, 3]), ("c", [0, 1])], None),
        (("c", "a"), 2000, None, [("a", [0, 1]), ("c", [0, 1])], None),
        (("b", "b"), 2000, None, [("b", [0, 1, 2, 3])], None),
        ((), 3, None, [("a", [0, 1]), ("b", [0])], ("b", 1)),
        ((), 3, ("b", 1), [("b", [1, 2, 3])], ("c", 0)),
        ((), 3, ("c", 0), [("c", [0, 1])], None),
        (("b",), 4, None, [("b", [0, 1, 2, 3])], None),
        (("b", "c"), 4, None, [("b", [0, 1, 2, 3])], ("c", 0)),
        (("b",), 1, None, [("b", [0])], ("b", 1)),
        (("b",), 0, None, [("b", [0])], ("b", 1)),
        (("b",), -1, None, [("b", [0])], ("b", 1)),
        (("b", "c"), 3, ("b", 9), [("b", []), ("c", [0, 1])], None),
        (("b", "c"), 1, ("b", 9), [("b", []), ("c", [0])], ("c", 1)),
        # A topic that went away between two pages: what comes after it is next.
        ((), 2000, ("bb", 7), [("c", [0, 1])], None),
    ],
)
async def test_pages_follow_each_other(
    names: tuple[str, ...],
    limit: int,
    at: At,
    topics: list[tuple[str, list[int]]],
    following: At,
) -> None:
    async with serving() as running:
        await create_topics(running)
        assert page(await ask(running, *names, limit=limit, at=at)) == (topics, following)


async def test_a_page_has_2000_partitions_at_most() -> None:
    async with serving() as running:
        await running.create("wide", 2001)
        ((_, indexes),), following = page(await ask(running, "wide", limit=5000))
    assert (len(indexes), following) == (2000, ("wide", 2000))


async def test_topics_that_are_not_there_are_told_in_their_place() -> None:
    async with serving() as running:
        await create_topics(running)
        response = await ask(running, "c", "bzz", "b d", "b")
    assert [(t.name, t.error_code, t.topic_id == ZERO_UUID) for t in response.topics] == [
        ("b", 0, False),
        ("b d", ErrorCode.INVALID_TOPIC_EXCEPTION, True),
        ("bzz", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True),
        ("c", 0, False),
    ]


@pytest.mark.parametrize("at", [("bb", 0), ("b", -1)])
async def test_a_cursor_outside_of_what_is_asked_for_is_refused(at: tuple[str, int]) -> None:
    async with serving() as running:
        await create_topics(running)
        response = await ask(running, "b", "c", at=at)
    assert [(t.name, t.error_code) for t in response.topics] == [
        ("b", ErrorCode.INVALID_REQUEST),
        ("c", ErrorCode.INVALID_REQUEST),
    ]
    assert response.next_cursor is None
