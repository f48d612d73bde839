"""OffsetFetch: what is committed, and -1 for what is not."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.kafka.group_client import GROUP, WireMember
from tests.kafka.serving import Serving, serving

OLD = range(1, 8)


async def with_offsets(running: Serving) -> bytes:
    """A topic with an offset in one of its two partitions; gives the topic's id."""
    topic = await running.create("orders", partitions=2)
    tool = await WireMember.connect(running)
    await tool.commit({("orders", 1): 7}, metadata="note")
    return topic.topic_id


@pytest.mark.parametrize("version", OLD)
async def test_every_earlier_version_tells_one_group(version: int) -> None:
    asked = [OffsetFetchRequestTopic(name="orders", partition_indexes=[0, 1])]
    async with serving() as running:
        await with_offsets(running)
        response = await running.ask(OffsetFetchRequest(group_id=GROUP, topics=asked), version)
    (topic,) = response.topics
    assert response.error_code == ErrorCode.NONE
    assert [(p.partition_index, p.committed_offset, p.metadata) for p in topic.partitions] == [
        (0, -1, ""),
        (1, 7, "note"),
    ]
    assert [p.committed_leader_epoch for p in topic.partitions] == [-1, 4 if version >= 5 else -1]


@pytest.mark.parametrize("version", [8, 9, 10])
async def test_later_versions_tell_many_groups(version: int) -> None:
    async with serving() as running:
        topic_id = await with_offsets(running)
        topics = [
            OffsetFetchRequestTopics(name="orders", topic_id=topic_id, partition_indexes=[0, 1])
        ]
        groups = [
            OffsetFetchRequestGroup(group_id=group, topics=topics) for group in (GROUP, "unknown")
        ]
        response = await running.ask(OffsetFetchRequest(groups=groups), version)
    assert [group.group_id for group in response.groups] == [GROUP, "unknown"]
    for group, offset in zip(response.groups, (7, -1), strict=True):
        assert group.error_code == ErrorCode.NONE
        (topic,) = group.topics
        assert (topic.name, topic.topic_id) == (
            ("orders", bytes(16)) if version < 10 else ("", topic_id)
        )
        assert [p.committed_offset for p in topic.partitions] == [-1, offset]
        assert [p.error_code for p in topic.partitions] == [0, 0]


@pytest.mark.parametrize("version", [2, 7])
async def test_null_asks_an_earlier_version_for_everything(version: int) -> None:
    async with serving() as running:
        await with_offsets(running)
        response = await running.ask(OffsetFetchRequest(group_id=GROUP, topics=None), version)
    (topic,) = response.topics
    assert topic.name == "orders"
    assert [(p.partition_index, p.committed_offset) for p in topic.partitions] == [(1, 7)]


@pytest.mark.parametrize("version", [8, 10])
async def test_null_asks_a_later_version_for_everything(version: int) -> None:
    async with serving() as running:
        topic_id = await with_offsets(running)
        group = OffsetFetchRequestGroup(group_id=GROUP, topics=None)
        response = await running.ask(OffsetFetchRequest(groups=[group]), version)
    (topic,) = response.groups[0].topics
    assert topic.name == ("orders" if version == 8 else "")
    assert topic.topic_id == (topic_id if version == 10 else bytes(16))
    assert [(p.partition_index, p.committed_offset) for p in topic.partitions] == [(1, 7)]


async def test_a_topic_id_that_nobody_knows_is_refused() -> None:
    async with serving() as running:
        await with_offsets(running)
        asked = OffsetFetchRequestTopics(topic_id=b"\7" * 16, partition_indexes=[1])
        group = OffsetFetchRequestGroup(group_id=GROUP, topics=[asked])
        response = await running.ask(OffsetFetchRequest(groups=[group]), 10)
    (partition,) = response.groups[0].topics[0].partitions
    assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert partition.committed_offset == -1


async def test_where_there_was_never_a_group_everything_is_minus_one() -> None:
    async with serving() as running:
        group = await WireMember(await running.connect()).fetch({"orders": [0]})
    assert group.error_code == ErrorCode.NONE
    (partition,) = group.topics[0].partitions
    assert (partition.committed_offset, partition.error_code) == (-1, ErrorCode.NONE)


@pytest.mark.parametrize("version", [7, 8, 10])
async def test_what_is_named_often_is_told_of_once(version: int) -> None:
    async with serving() as running:
        topic_id = await with_offsets(running)
        indexes = [1, *[0, 1] * 1000]
        topic = OffsetFetchRequestTopics(
            name="orders", topic_id=topic_id, partition_indexes=indexes
        )
        earlier = OffsetFetchRequestTopic(name="orders", partition_indexes=indexes)
        asked = OffsetFetchRequestGroup(group_id=GROUP, topics=[topic] * 3)
        request = OffsetFetchRequest(group_id=GROUP, topics=[earlier] * 3, groups=[asked] * 3)
        response = await running.ask(request, version)
    (told,) = response.groups if version >= 8 else [response]
    (found,) = told.topics
    assert [(p.partition_index, p.committed_offset) for p in found.partitions] == [(1, 7), (0, -1)]


@pytest.mark.parametrize("is_all_first", [False, True])
async def test_a_group_asked_for_everything_and_for_a_part_tells_everything(
    is_all_first: bool,
) -> None:
    topic = OffsetFetchRequestTopics(name="orders", partition_indexes=[0])
    groups = [
        OffsetFetchRequestGroup(group_id=GROUP, topics=topics) for topics in ([topic], None, [])
    ]
    async with serving() as running:
        await with_offsets(running)
        asked = groups[::-1] if is_all_first else groups
        response = await running.ask(OffsetFetchRequest(groups=asked), 9)
    (group,) = response.groups
    (told,) = group.topics
    assert [(p.partition_index, p.committed_offset) for p in told.partitions] == [(1, 7)]


async def test_a_group_named_twice_tells_what_was_asked_in_either_place() -> None:
    groups = [
        OffsetFetchRequestGroup(
            group_id=GROUP,
            topics=[OffsetFetchRequestTopics(name="orders", partition_indexes=[index])],
        )
        for index in (1, 0)
    ]
    async with serving() as running:
        await with_offsets(running)
        response = await running.ask(OffsetFetchRequest(groups=groups), 9)
    (group,) = response.groups
    (topic,) = group.topics
    assert [(p.partition_index, p.committed_offset) for p in topic.partitions] == [(1, 7), (0, -1)]
