"""What groups have committed, and what is told of them."""

from collections.abc import Sequence

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.delete_groups import DeleteGroupsRequest
from riverlog.protocol.messages.describe_groups import DescribeGroupsRequest
from riverlog.protocol.messages.list_groups import ListGroupsRequest
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from riverlog.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.conformance.differential.conversation import Conversation, Topic
from tests.conformance.differential.script import script
from tests.conformance.differential.scripts.membership import joined, leave

NOBODY = bytes(15) + b"\x07"


def commit(
    group: str,
    topic: Topic,
    *offsets: int,
    partition: int = 0,
    metadata: str | None = "",
    member: tuple[int, str] = (-1, ""),
) -> OffsetCommitRequest:
    """Offsets for partitions from `partition` on."""
    places = [
        OffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=metadata
        )
        for index, offset in enumerate(offsets, partition)
    ]
    named = OffsetCommitRequestTopic(name=topic.name, topic_id=topic.topic_id, partitions=places)
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=member[0],
        member_id=member[1],
        topics=[named],
    )


def committed(group: str, topic: Topic | None, *partitions: int) -> OffsetFetchRequest:
    """Asks for some partitions of one topic, or for all there are."""
    old: Sequence[OffsetFetchRequestTopic] | None = None
    new: Sequence[OffsetFetchRequestTopics] | None = None
    if topic is not None:
        old = [OffsetFetchRequestTopic(name=topic.name, partition_indexes=partitions)]
        new = [
            OffsetFetchRequestTopics(
                name=topic.name, topic_id=topic.topic_id, partition_indexes=partitions
            )
        ]
    groups = [OffsetFetchRequestGroup(group_id=group, topics=new)]
    return OffsetFetchRequest(group_id=group, topics=old, groups=groups)


def forget(group: str, topic: str, partition: int) -> OffsetDeleteRequest:
    place = OffsetDeleteRequestPartition(partition_index=partition)
    topics = [OffsetDeleteRequestTopic(name=topic, partitions=[place])]
    return OffsetDeleteRequest(group_id=group, topics=topics)


def with_offsets(talk: Conversation, group: str, topic: Topic) -> None:
    """A group that has committed two offsets, off the record."""
    talk.await_coordinator(group)
    reply = talk.look(commit(group, topic, 5, 6), 8)
    assert not any(place.error_code for place in reply.topics[0].partitions), reply


@script(ApiKey.OFFSET_COMMIT)
def offsets_are_committed(talk: Conversation) -> None:
    topic, group = talk.topic(partitions=2), talk.name("group")
    talk.await_coordinator(group)
    talk.ask("two", commit(group, topic, 5, 6))
    talk.ask("back", commit(group, topic, 1, metadata="mark"))
    talk.ask("null metadata", commit(group, topic, 2, partition=1, metadata=None))
    talk.ask("what is there", committed(group, topic, 0, 1), 8)
    talk.ask("long metadata", commit(group, topic, 9, metadata="x" * 5000))
    talk.ask("unknown partition", commit(group, topic, 1, partition=9))
    talk.ask("unknown topic", commit(group, Topic(talk.name("unknown"), NOBODY, 0), 1))
    talk.ask("an unknown member", commit(group, topic, 1, member=(1, "nobody")))
    talk.ask("a generation alone", commit(group, topic, 1, member=(1, "")))
    talk.ask("negative", commit(group, topic, -5))


@script(ApiKey.OFFSET_COMMIT)
def members_commit_in_their_generation(talk: Conversation) -> None:
    topic, group = talk.topic(), talk.name("group")
    first = joined(talk, group)
    member, generation = first.member_id, first.generation_id
    talk.ask("as a member", commit(group, topic, 3, member=(generation, member)))
    talk.ask("an old generation", commit(group, topic, 4, member=(generation - 1, member)))
    talk.ask("an unknown member", commit(group, topic, 4, member=(generation, "nobody")))
    talk.ask("nobody at all", commit(group, topic, 4))
    talk.look(leave(group, (member, None)), 3)


@script(ApiKey.OFFSET_FETCH)
def committed_offsets_are_told(talk: Conversation) -> None:
    topic, group = talk.topic(partitions=3), talk.name("group")
    with_offsets(talk, group, topic)
    talk.ask("some", committed(group, topic, 0, 1, 2))
    if talk.version >= 2:
        talk.ask("all", committed(group, None))
        talk.ask("all of an unknown group", committed(talk.name("unknown"), None))
    talk.ask("an unknown group", committed(talk.name("unknown"), topic, 0))
    talk.ask("unknown partition", committed(group, topic, 9))
    talk.ask("unknown topic", committed(group, Topic(talk.name("unknown"), NOBODY, 0), 0))
    talk.ask("no group", committed("", topic, 0))


@script(ApiKey.OFFSET_FETCH)
def offsets_are_asked_for_twice(talk: Conversation) -> None:
    topic, group = talk.topic(partitions=3), talk.name("group")
    with_offsets(talk, group, topic)
    talk.ask("a partition", committed(group, topic, 1, 0, 1))
    if talk.version >= 8:
        twice = [*committed(group, topic, 0).groups, *committed(group, topic, 1).groups]
        talk.ask("a group", OffsetFetchRequest(groups=twice))


@script(ApiKey.OFFSET_DELETE)
def committed_offsets_are_deleted(talk: Conversation) -> None:
    topic, group = talk.topic(partitions=2), talk.name("group")
    with_offsets(talk, group, topic)

    def ask(step: str, group: str, name: str, partition: int) -> None:
        talk.ask(step, forget(group, name, partition))

    ask("one", group, topic.name, 0)
    talk.ask("what is left", committed(group, topic, 0, 1), 8)
    ask("one again", group, topic.name, 0)
    ask("unknown partition", group, topic.name, 9)
    ask("unknown topic", group, talk.name("unknown"), 0)
    ask("an unknown group", talk.name("unknown"), topic.name, 0)


@script(ApiKey.DESCRIBE_GROUPS)
def groups_are_described(talk: Conversation) -> None:
    topic, group = talk.topic(partitions=2), talk.name("group")
    first = joined(talk, group)

    def ask(step: str, *names: str, operations: bool = False) -> None:
        talk.ask(
            step, DescribeGroupsRequest(groups=names, include_authorized_operations=operations)
        )

    ask("stable", group)
    talk.look(leave(group, (first.member_id, None)), 3)
    ask("empty", group)
    with_offsets(talk, talk.name("simple"), topic)
    ask("without members", talk.name("simple"))
    ask("unknown", talk.name("unknown"))
    ask("none")
    if talk.version >= 3:
        ask("operations", group, operations=True)
        ask("operations on nothing", talk.name("unknown"), operations=True)


@script(ApiKey.DESCRIBE_GROUPS)
def a_group_is_described_twice(talk: Conversation) -> None:
    group = talk.name("group")
    first = joined(talk, group)
    talk.ask("twice", DescribeGroupsRequest(groups=[group, group]))
    talk.look(leave(group, (first.member_id, None)), 3)


@script(ApiKey.LIST_GROUPS)
def groups_are_listed(talk: Conversation) -> None:
    topic, group = talk.topic(partitions=2), talk.name("group")
    first = joined(talk, group)
    with_offsets(talk, talk.name("simple"), topic)
    mine = {group, talk.name("simple")}

    def ask(step: str, states: Sequence[str] = (), types: Sequence[str] = ()) -> None:
        request = ListGroupsRequest(states_filter=states, types_filter=types)
        reply = talk.look(request, talk.version)
        found = {
            one.group_id: (one.protocol_type, one.group_state, one.group_type)
            for one in reply.groups
            if one.group_id in mine
        }
        shown = {name: found.get(name) for name in sorted(mine)}
        talk.write_down(step, {"error": reply.error_code, **shown})

    ask("all")
    if talk.version >= 4:
        ask("stable", ["Stable"])
        ask("empty, in small letters", ["empty"])
        ask("unknown state", ["Nowhere"])
    if talk.version >= 5:
        ask("classic", types=["Classic"])
        ask("consumer", types=["consumer"])
        ask("unknown type", types=["other"])
    talk.look(leave(group, (first.member_id, None)), 3)


@script(ApiKey.DELETE_GROUPS)
def groups_are_deleted(talk: Conversation) -> None:
    topic, group = talk.topic(partitions=2), talk.name("group")
    first = joined(talk, group)
    with_offsets(talk, talk.name("simple"), topic)
    talk.ask("with a member", DeleteGroupsRequest(groups_names=[group]))
    talk.look(leave(group, (first.member_id, None)), 3)
    names = [group, talk.name("simple"), talk.name("unknown")]
    talk.ask("all", DeleteGroupsRequest(groups_names=names))
    talk.ask("after", committed(talk.name("simple"), topic, 0), 8)
    talk.ask("again", DeleteGroupsRequest(groups_names=[group]))


@script(ApiKey.OFFSET_COMMIT)
def the_group_without_a_name(talk: Conversation) -> None:
    # All about it is in this one script, as there is only one such group.
    topic = talk.topic(partitions=2)
    talk.await_coordinator(talk.name("group"))
    talk.look(DeleteGroupsRequest(groups_names=[""]), 2)
    talk.ask("is described", DescribeGroupsRequest(groups=[""]), 5)
    talk.ask("deletes an offset", forget("", topic.name, 0), 0)
    talk.ask("commits", commit("", topic, 1))
    talk.ask("tells it", committed("", topic, 0), 8)
    talk.ask("is described again", DescribeGroupsRequest(groups=[""]), 5)
    talk.ask("deletes its offset", forget("", topic.name, 0), 0)
    talk.ask("is deleted", DeleteGroupsRequest(groups_names=[""]), 2)
