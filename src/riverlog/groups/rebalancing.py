"""How a group gets from one generation to the next, and what time alone changes.

Members join until all of them have or the deadline has passed; then a generation begins, and its
leader shares out the work; once that is durable, the group is stable.
"""

from collections.abc import Iterable, Sequence

from riverlog.groups.decision import Decision, Joined, Refused, Reply, Synced
from riverlog.groups.errors import CoordinatorUnavailable, RebalanceInProgress, UnknownMember
from riverlog.groups.facts import (
    AssignmentMade,
    Fact,
    GenerationBegan,
    GenerationSettled,
    GroupEmptied,
    MemberHeard,
    MemberIdLapsed,
    MemberLeft,
    RebalanceBegan,
    SettledMember,
    WaitEnded,
)
from riverlog.groups.group import Group, State
from riverlog.groups.members import Awaits, Member, chosen_protocol
from riverlog.groups.settings import GroupSettings


def due(group: Group, now_ms: int, time_ms: int, settings: GroupSettings) -> Decision | None:
    """What follows from what is true by now; None when nothing does.

    One step of it: apply the facts and ask again. `time_ms` is the wall clock, for what is
    written down.
    """
    overdue = [m for m in group.members if m.can_expire and m.deadline_ms <= now_ms]
    lapsed = []
    if group.given_deadline_ms <= now_ms:
        lapsed = [known for known, deadline_ms in group.given_ids.items() if deadline_ms <= now_ms]
    if overdue or lapsed:
        facts, releases = drop(group, overdue, now_ms, settings)
        return Decision([*map(MemberIdLapsed, lapsed), *facts], releases=releases)
    match group.state:
        case State.PREPARING:
            return _joining_due(group, now_ms, time_ms, settings)
        case State.COMPLETING:
            return _settled(group, now_ms) or _syncing_due(group, now_ms, settings)
        case State.STABLE:
            return _place_due(group, time_ms) or _syncing_due(group, now_ms, settings)
    return None


def begin(
    group: Group, members: Iterable[Member], timeout_ms: int, now_ms: int, settings: GroupSettings
) -> tuple[list[Fact], list[Reply]]:
    """Calls everyone to the next generation, unless they have been called already.

    `members` are those that stay; whoever waits for a share of the old one is told.
    """
    if group.state is State.PREPARING:
        return [], []
    if group.state is State.EMPTY:
        delay_ms = min(settings.initial_delay_ms, timeout_ms)
        return [RebalanceBegan(now_ms + delay_ms, timeout_ms - delay_ms)], []
    waiting = [member for member in members if member.awaits is Awaits.ASSIGNMENT]
    facts: list[Fact] = [heard(member, now_ms) for member in waiting]
    error = RebalanceInProgress("the group begins a new generation")
    releases: list[Reply] = [Refused(member.profile.member_id, error) for member in waiting]
    return [*facts, RebalanceBegan(now_ms + timeout_ms)], releases


def drop(
    group: Group, gone: Sequence[Member], now_ms: int, settings: GroupSettings
) -> tuple[list[Fact], list[Reply]]:
    """Lets members go; the others share out the work anew."""
    if not gone:
        return [], []
    facts: list[Fact] = [MemberLeft(member.profile.member_id) for member in gone]
    error = UnknownMember("the member has left the group")
    releases: list[Reply] = [
        Refused(member.profile.member_id, error)
        for member in gone
        if member.awaits is not Awaits.NOTHING
    ]
    gone_ids = {member.profile.member_id for member in gone}
    staying = [m for m in group.members if m.profile.member_id not in gone_ids]
    timeout_ms = max((member.profile.rebalance_timeout_ms for member in staying), default=0)
    began, told = begin(group, staying, timeout_ms, now_ms, settings)
    return facts + began, releases + told


def settling_failed(group: Group, now_ms: int, settings: GroupSettings) -> Decision:
    """The disk refused what a generation had settled: whoever waited for it is to try again."""
    error = CoordinatorUnavailable("the disk refused the group's record")
    if group.state is State.STABLE:
        waiting = [m.profile.member_id for m in group.members if m.awaits is Awaits.PLACE]
        return Decision(
            [WaitEnded(member_id) for member_id in waiting],
            releases=[Refused(member_id, error) for member_id in waiting],
        )
    if group.state is not State.COMPLETING:
        return Decision()
    timeout_ms = group.members.rebalance_timeout_ms
    facts, releases = begin(group, group.members, timeout_ms, now_ms, settings)
    return Decision(facts, releases=[Refused(reply.member_id, error) for reply in releases])


def settlement(group: Group, assignments: dict[str, bytes], time_ms: int) -> GenerationSettled:
    """The present generation, as it is written down."""
    return GenerationSettled(
        group.generation,
        group.protocol_type,
        group.protocol,
        group.leader_id,
        time_ms,
        tuple(
            SettledMember(
                profile.member_id,
                profile.instance_id,
                profile.client_id,
                profile.client_host,
                profile.rebalance_timeout_ms,
                profile.session_timeout_ms,
                profile.metadata_for(group.protocol),
                assignments.get(profile.member_id, b""),
            )
            for profile in (member.profile for member in group.members)
        ),
    )


def heard(member: Member, now_ms: int) -> MemberHeard:
    """The fact that a member lives."""
    return MemberHeard(member.profile.member_id, now_ms + member.profile.session_timeout_ms)


def membership(group: Group, member: Member) -> Joined:
    """What a member of the present generation is told of it."""
    protocol = group.protocol or ""
    leader_id = group.leader_id or ""
    member_id = member.profile.member_id
    members = _introduced(group.members, protocol) if member_id == leader_id else []
    return Joined(
        member_id, group.generation, group.protocol_type, protocol, leader_id, members,
        member.replaces,
    )  # fmt: skip


def _introduced(members: Iterable[Member], protocol: str) -> list[tuple[str, str | None, bytes]]:
    profiles = [member.profile for member in members]
    return [(p.member_id, p.instance_id, p.metadata_for(protocol)) for p in profiles]


def _joining_due(
    group: Group, now_ms: int, time_ms: int, settings: GroupSettings
) -> Decision | None:
    is_late = group.deadline_ms <= now_ms
    joined = [member for member in group.members if member.awaits is Awaits.GENERATION]
    left_ms = group.delay_left_ms
    if left_ms is not None:
        if not is_late:
            return None
        if group.has_newcomers and left_ms > 0:
            delay_ms = min(settings.initial_delay_ms, left_ms)
            return Decision([RebalanceBegan(now_ms + delay_ms, left_ms - delay_ms)])
    elif not is_late and (len(joined) < len(group.members) or group.given_ids):
        return None
    # A static member that has not come back keeps its place until its session ends.
    staying, left = [], list[Fact]()
    for member in group.members:
        if member.awaits is Awaits.GENERATION or member.profile.instance_id is not None:
            staying.append(member)
        else:
            left.append(MemberLeft(member.profile.member_id))
    if not staying:
        generation = group.generation + 1
        empty = GenerationSettled(generation, group.protocol_type, None, None, time_ms, ())
        return Decision([*left, GroupEmptied(generation), empty])
    # At least a millisecond, so that time always gets on.
    timeout_ms = max(1, *(member.profile.rebalance_timeout_ms for member in staying))
    if not joined:
        return Decision([*left, RebalanceBegan(now_ms + timeout_ms)])
    return _new_generation(group, left, staying, joined, now_ms, timeout_ms)


def _new_generation(
    group: Group,
    left: list[Fact],
    staying: list[Member],
    joined: list[Member],
    now_ms: int,
    timeout_ms: int,
) -> Decision:
    protocol = chosen_protocol([member.profile for member in staying], group.protocol)
    joined_ids = [member.profile.member_id for member in joined]
    leader_id = group.leader_id if group.leader_id in joined_ids else None
    leader_id = leader_id or joined_ids[0]
    generation = group.generation + 1
    introduced = _introduced(staying, protocol)
    began = GenerationBegan(generation, protocol, leader_id, now_ms, now_ms + timeout_ms)
    releases = [
        Joined(
            member_id, generation, group.protocol_type, protocol, leader_id,
            introduced if member_id == leader_id else (),
        )
        for member_id in joined_ids
    ]  # fmt: skip
    return Decision([*left, began], releases=releases)


def _settled(group: Group, now_ms: int) -> Decision | None:
    settled = group.settled
    if settled is None or settled.generation != group.generation:
        return None
    assignments = {member.member_id: member.assignment for member in settled.members}
    protocol = group.protocol or ""
    return Decision(
        [AssignmentMade(assignments, now_ms)],
        releases=[
            Synced(
                member.profile.member_id, group.protocol_type, protocol,
                assignments.get(member.profile.member_id, b""),
            )
            for member in group.members
            if member.awaits is Awaits.ASSIGNMENT
        ],
    )  # fmt: skip


def _syncing_due(group: Group, now_ms: int, settings: GroupSettings) -> Decision | None:
    if group.deadline_ms > now_ms:
        return None
    silent = [member for member in group.members if not member.has_synced]
    facts, releases = drop(group, silent, now_ms, settings)
    return Decision(facts, releases=releases)


def _place_due(group: Group, time_ms: int) -> Decision | None:
    waiting = [member for member in group.members if member.awaits is Awaits.PLACE]
    if not waiting or group.is_settling:
        return None
    settled_ids = {member.member_id for member in group.settled.members} if group.settled else set()
    known = [member for member in waiting if member.profile.member_id in settled_ids]
    if known:
        return Decision(
            [WaitEnded(member.profile.member_id) for member in known],
            releases=[membership(group, member) for member in known],
        )
    assignments = {member.profile.member_id: member.assignment for member in group.members}
    return Decision([settlement(group, assignments, time_ms)])
