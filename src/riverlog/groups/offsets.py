"""Committed offsets: who may commit, what may be forgotten, and when it is."""

from collections.abc import Sequence
from typing import NamedTuple

from riverlog.groups.attending import Caller, present_member
from riverlog.groups.decision import Decision
from riverlog.groups.errors import (
    GroupNotEmpty,
    GroupNotFound,
    GroupSubscribed,
    IllegalGeneration,
    OffsetMetadataTooLarge,
    RebalanceInProgress,
    UnknownMember,
)
from riverlog.groups.facts import (
    DurableFact,
    GenerationSettled,
    GroupForgotten,
    OffsetCommitted,
    OffsetForgotten,
)
from riverlog.groups.group import Group, Place, State
from riverlog.groups.rebalancing import heard
from riverlog.groups.settings import GroupSettings
from riverlog.groups.subscription import subscribed_topics

CONSUMER = "consumer"


class Commit(NamedTuple):
    """Someone wants its progress kept; outside of any generation, `caller` has -1."""

    caller: Caller
    offsets: Sequence[OffsetCommitted]


def check_metadata(offset: OffsetCommitted, settings: GroupSettings) -> None:
    """Raises `OffsetMetadataTooLarge`."""
    if len(offset.metadata.encode()) > settings.metadata_bytes_max:
        raise OffsetMetadataTooLarge(
            f"the text beside an offset has at most {settings.metadata_bytes_max} bytes"
        )


def decide_commit(group: Group, asked: Commit, now_ms: int) -> Decision:
    """The offsets, as facts to be made durable; raises a `GroupError`.

    Without members, anyone may commit outside of a generation; with members, only they may, and
    not while the work is being shared out: they do not know then what is theirs.
    """
    caller = asked.caller
    if caller.generation < 0 and group.state is State.EMPTY:
        return Decision(asked.offsets)
    if group.is_blank:
        raise IllegalGeneration(f"there is no generation in group '{group.group_id}' yet")
    if caller.generation < 0 and not caller.member_id and caller.instance_id is None:
        raise UnknownMember(f"group '{group.group_id}' has members; only they commit")
    member = present_member(group, caller)
    if group.state is State.COMPLETING:
        raise RebalanceInProgress("the work is being shared out")
    return Decision([*asked.offsets, heard(member, now_ms)])


def decide_delete(group: Group) -> list[DurableFact]:
    """Everything that ends a group; raises `GroupNotFound` or `GroupNotEmpty`."""
    if group.is_blank:
        raise GroupNotFound(f"there is no group '{group.group_id}'")
    if group.state is not State.EMPTY:
        raise GroupNotEmpty(f"group '{group.group_id}' has members")
    return _end(group)


def check_forgettable(group: Group) -> None:
    """Raises if no offset of the group may be deleted by hand, whatever its topic."""
    if group.is_blank:
        raise GroupNotFound(f"there is no group '{group.group_id}'")
    if group.state is not State.EMPTY and group.protocol_type != CONSUMER:
        raise GroupNotEmpty(f"group '{group.group_id}' has members")


def check_unread(group: Group, topic: str) -> None:
    """Raises `GroupSubscribed` if members read the topic."""
    if topic in subscriptions(group):
        raise GroupSubscribed(f"members of group '{group.group_id}' read topic '{topic}'")


def decide_forget(group: Group, places: Sequence[Place]) -> list[DurableFact]:
    """Deletes offsets by hand, as far as there are any."""
    known = set(_places(group))
    return [OffsetForgotten(*place) for place in places if place in known]


def decide_forget_topic(group: Group, topic: str) -> list[DurableFact]:
    """The topic is gone, and so are the offsets in it."""
    return [OffsetForgotten(*place) for place in _places(group) if place[0] == topic]


def standing(group: Group) -> list[DurableFact]:
    """All that is true of a group once what is under way is written; nothing else matters then."""
    settled, offsets = group.settled, dict(group.offsets)
    for fact in group.under_way:
        match fact:
            case OffsetCommitted():
                offsets[fact.topic, fact.partition] = fact
            case OffsetForgotten():
                offsets.pop((fact.topic, fact.partition), None)
            case GenerationSettled():
                settled = fact
            case GroupForgotten():
                settled, offsets = None, {}
    return [*([] if settled is None else [settled]), *offsets.values()]


def decide_expire(group: Group, time_ms: int, settings: GroupSettings) -> list[DurableFact]:
    """What has been kept for long enough, by the wall clock.

    Of a group without members, everything counts from when the last one left; of one with members,
    only what they do not read. A group that has nothing left ends.
    """
    if group.state not in (State.EMPTY, State.STABLE) or group.given_ids:
        return []
    read, expected = subscriptions(group), group.expected
    if group.state is State.STABLE and (group.protocol_type != CONSUMER or not read):
        return []
    since_ms = group.settled.time_ms if group.settled and group.state is State.EMPTY else 0
    expired = [
        place
        for place, offset in group.offsets.items()
        if place not in expected
        and place[0] not in read
        and _expires_ms(offset, since_ms, settings) <= time_ms
    ]
    is_over = group.state is State.EMPTY and not group.is_blank and not group.under_way
    if is_over and len(expired) == len(group.offsets):
        return _end(group)
    return [OffsetForgotten(*place) for place in expired]


def subscriptions(group: Group) -> set[str]:
    """The topics that members read, as far as their protocol lets us know."""
    if group.protocol_type != CONSUMER:
        return set()
    read: set[str] = set()
    for member in group.members:
        for _, metadata in member.profile.protocols:
            read.update(subscribed_topics(metadata))
    return read


def _expires_ms(offset: OffsetCommitted, since_ms: int, settings: GroupSettings) -> int:
    if offset.expires_ms >= 0:
        return offset.expires_ms
    return max(offset.time_ms, since_ms) + settings.retention_ms


def _places(group: Group) -> list[Place]:
    """Where it has offsets, or will have once they are written."""
    return [*group.offsets, *sorted(group.expected - group.offsets.keys())]


def _end(group: Group) -> list[DurableFact]:
    return [*(OffsetForgotten(*place) for place in _places(group)), GroupForgotten()]
