"""Who may join, and when joining begins a new generation."""

from typing import NamedTuple

from riverlog.groups.decision import Decision, Refused, Reply
from riverlog.groups.errors import (
    FencedInstance,
    GroupFull,
    InconsistentProtocol,
    InvalidSessionTimeout,
    MemberIdRequired,
)
from riverlog.groups.facts import Fact, MemberIdGiven, MemberJoined, MemberReplaced
from riverlog.groups.group import Group, State
from riverlog.groups.members import Awaits, Member, Profile, chosen_protocol, shared_protocols
from riverlog.groups.rebalancing import begin, heard, membership
from riverlog.groups.settings import GroupSettings


class Join(NamedTuple):
    """Someone asks to join.

    `profile` has an empty member id if it has none yet; `new_id` is the one it gets then.
    `returns_with_id` says that it understands being given an id first.
    """

    profile: Profile
    protocol_type: str
    new_id: str
    returns_with_id: bool


def decide_join(group: Group, asked: Join, now_ms: int, settings: GroupSettings) -> Decision:
    """Raises why it may not join: a `GroupError`."""
    profile = asked.profile
    timeout_ms = profile.session_timeout_ms
    if not settings.session_timeout_ms_min <= timeout_ms <= settings.session_timeout_ms_max:
        raise InvalidSessionTimeout(
            f"a session timeout of {timeout_ms} ms; it is {settings.session_timeout_ms_min} to "
            f"{settings.session_timeout_ms_max} here"
        )
    _check_room(group, profile, settings)
    _check_protocols(group, asked)
    if not profile.member_id:
        return _join_without_id(group, asked, now_ms, settings)
    if profile.member_id in group.given_ids:
        return _join_next(group, asked, profile, now_ms, settings)
    member = group.member(profile.member_id, profile.instance_id)
    is_same = profile.protocols == member.profile.protocols
    is_leader = group.leader_id == profile.member_id
    # A leader that joins a stable group again wants the work to be shared out anew.
    if is_same and (
        group.state is State.COMPLETING or (group.state is State.STABLE and not is_leader)
    ):
        return Decision([heard(member, now_ms)], membership(group, member))
    return _join_next(group, asked, profile, now_ms, settings)


def _check_room(group: Group, profile: Profile, settings: GroupSettings) -> None:
    is_known = group.members.get(profile.member_id) is not None
    is_replaced = (
        profile.instance_id is not None
        and group.members.id_of_instance(profile.instance_id) is not None
    )
    if is_known or is_replaced or profile.member_id in group.given_ids:
        return
    if len(group.members) + len(group.given_ids) >= settings.size_max:
        raise GroupFull(f"a group has at most {settings.size_max} members")


def _check_protocols(group: Group, asked: Join) -> None:
    profile = asked.profile
    if not asked.protocol_type or not profile.protocols:
        raise InconsistentProtocol("a member needs a protocol type and at least one protocol")
    if not group.members:
        return
    if asked.protocol_type != group.protocol_type:
        raise InconsistentProtocol(f"the group's protocol type is '{group.protocol_type}'")
    known = shared_protocols([member.profile for member in group.members])
    if not any(name in known for name, _ in profile.protocols):
        raise InconsistentProtocol(f"the group's members share only {', '.join(known)}")


def _join_without_id(group: Group, asked: Join, now_ms: int, settings: GroupSettings) -> Decision:
    profile = asked.profile._replace(member_id=asked.new_id)
    if profile.instance_id is not None:
        former_id = group.members.id_of_instance(profile.instance_id)
        former = None if former_id is None else group.members.get(former_id)
        if former is not None:
            return _replace(group, former, asked, profile, now_ms, settings)
    elif asked.returns_with_id:
        deadline_ms = now_ms + profile.session_timeout_ms
        error = MemberIdRequired(f"join again as '{asked.new_id}'")
        return Decision([MemberIdGiven(asked.new_id, deadline_ms)], Refused(asked.new_id, error))
    return _join_next(group, asked, profile, now_ms, settings)


def _join_next(
    group: Group, asked: Join, profile: Profile, now_ms: int, settings: GroupSettings
) -> Decision:
    """It waits for the next generation, which begins if it has not yet."""
    member = group.members.get(profile.member_id)
    is_new = member is None or member.is_new
    patience_ms = settings.newcomer_timeout_ms if is_new else profile.session_timeout_ms
    joined = MemberJoined(profile, asked.protocol_type, now_ms + patience_ms)
    others = [m for m in group.members if m.profile.member_id != profile.member_id]
    timeout_ms = _timeout_ms(profile, others)
    began, releases = begin(group, others, timeout_ms, now_ms, settings)
    return Decision([joined, *began], releases=releases, waits_as=profile.member_id)


def _replace(
    group: Group,
    former: Member,
    asked: Join,
    profile: Profile,
    now_ms: int,
    settings: GroupSettings,
) -> Decision:
    """A static member is back in another process: it takes the place of the former one."""
    former_id = former.profile.member_id
    deadline_ms = now_ms + profile.session_timeout_ms
    facts: list[Fact] = [MemberReplaced(former_id, profile, deadline_ms)]
    releases: list[Reply] = []
    if former.awaits is not Awaits.NOTHING:
        error = FencedInstance(f"instance '{profile.instance_id}' is another member by now")
        releases.append(Refused(former_id, error))
    others = [member for member in group.members if member is not former]
    profiles = [profile, *(member.profile for member in others)]
    protocol = chosen_protocol(profiles, group.protocol)
    if group.state is not State.STABLE or protocol != group.protocol:
        began, told = begin(group, others, _timeout_ms(profile, others), now_ms, settings)
        facts += began
        releases += told
    return Decision(facts, releases=releases, waits_as=profile.member_id)


def _timeout_ms(profile: Profile, others: list[Member]) -> int:
    timeouts = [member.profile.rebalance_timeout_ms for member in others]
    return max(profile.rebalance_timeout_ms, 0, *timeouts)
