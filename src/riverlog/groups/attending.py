"""What members do between joining and leaving: ask for their share, show that they live, leave."""

from typing import NamedTuple

from riverlog.groups.decision import Decision, Refused, Synced
from riverlog.groups.errors import (
    FencedInstance,
    IllegalGeneration,
    InconsistentProtocol,
    RebalanceInProgress,
    UnknownMember,
)
from riverlog.groups.facts import AssignmentAsked, Fact, MemberIdLapsed
from riverlog.groups.group import Group, State
from riverlog.groups.members import Member
from riverlog.groups.rebalancing import drop, heard, settlement
from riverlog.groups.settings import GroupSettings


class Caller(NamedTuple):
    """Who asks, and in which generation it believes to be."""

    member_id: str
    instance_id: str | None
    generation: int


class Sync(NamedTuple):
    """A member asks for its share; the leader brings everyone's."""

    caller: Caller
    protocol_type: str | None
    protocol: str | None
    assignments: dict[str, bytes]


def present_member(group: Group, caller: Caller) -> Member:
    """The member that asks, if it is of the present generation; raises why not."""
    member = group.member(caller.member_id, caller.instance_id)
    if caller.generation != group.generation:
        raise IllegalGeneration(
            f"generation {caller.generation} is not the present one, {group.generation}"
        )
    return member


def decide_sync(group: Group, asked: Sync, now_ms: int, time_ms: int) -> Decision:
    """The leader's shares are written down before anyone has one; raises a `GroupError`."""
    member = present_member(group, asked.caller)
    for named, present in (
        (asked.protocol_type, group.protocol_type),
        (asked.protocol, group.protocol),
    ):
        if named is not None and named != present:
            raise InconsistentProtocol(f"the generation uses '{present}', not '{named}'")
    if group.state is State.PREPARING:
        raise RebalanceInProgress("the group begins a new generation")
    member_id = asked.caller.member_id
    facts: list[Fact] = [AssignmentAsked(member_id), heard(member, now_ms)]
    if group.state is State.STABLE:
        reply = Synced(member_id, group.protocol_type, group.protocol or "", member.assignment)
        return Decision(facts, reply)
    if member_id == group.leader_id and not group.is_settling:
        facts.append(settlement(group, asked.assignments, time_ms))
    return Decision(facts, waits_as=member_id)


def decide_heartbeat(group: Group, caller: Caller, now_ms: int) -> Decision:
    """Raises a `GroupError`; a member that is to join again is heard of all the same."""
    member = present_member(group, caller)
    reply = None
    if group.state is State.PREPARING:
        error = RebalanceInProgress("the group begins a new generation")
        reply = Refused(caller.member_id, error)
    return Decision([heard(member, now_ms)], reply)


def decide_leave(
    group: Group, member_id: str, instance_id: str | None, now_ms: int, settings: GroupSettings
) -> Decision:
    """Raises a `GroupError`. A static member may be named by its instance alone."""
    if instance_id is not None:
        known_id = group.members.id_of_instance(instance_id)
        if known_id is None:
            raise UnknownMember(f"group '{group.group_id}' has no instance '{instance_id}'")
        if member_id not in ("", known_id):
            raise FencedInstance(f"instance '{instance_id}' is another member by now")
        member_id = known_id
    elif member_id in group.given_ids:
        return Decision([MemberIdLapsed(member_id)])
    facts, releases = drop(group, [group.member(member_id, None)], now_ms, settings)
    return Decision(facts, releases=releases)
