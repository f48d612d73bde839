"""Groups with members: FindCoordinator, JoinGroup, SyncGroup, Heartbeat and LeaveGroup."""

import struct
from typing import Any

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.find_coordinator import FindCoordinatorRequest
from riverlog.protocol.messages.heartbeat import HeartbeatRequest
from riverlog.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from riverlog.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from riverlog.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.conformance.differential.conversation import Conversation
from tests.conformance.differential.script import script

SESSION_MS = 10_000
JOIN, SYNC = ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP


def join(
    group: str,
    member: str = "",
    *,
    instance: str | None = None,
    kind: str = "consumer",
    protocols: tuple[str, ...] = ("range",),
    session_ms: int = SESSION_MS,
    subscribed: str = "topic",
) -> JoinGroupRequest:
    # Kafka looks into what consumers say of themselves: version 0, one topic, no data.
    metadata = struct.pack(">hih", 0, 1, len(subscribed)) + subscribed.encode() + b"\xff" * 4
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=SESSION_MS,
        member_id=member,
        group_instance_id=instance,
        protocol_type=kind,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata) for name in protocols],
    )


def sync(
    group: str, generation: int, member: str, assignment: bytes | None = None, **rest: Any
) -> SyncGroupRequest:
    assigned = [SyncGroupRequestAssignment(member_id=member, assignment=assignment or b"")]
    return SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        assignments=[] if assignment is None else assigned,
        **{"protocol_type": "consumer", "protocol_name": "range", **rest},
    )


def heartbeat(
    group: str, generation: int, member: str, instance: str | None = None
) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=group, generation_id=generation, member_id=member, group_instance_id=instance
    )


def leave(group: str, *members: tuple[str, str | None]) -> LeaveGroupRequest:
    """The first one's id is where versions before 3 have it."""
    told = [MemberIdentity(member_id=one, group_instance_id=instance) for one, instance in members]
    return LeaveGroupRequest(group_id=group, member_id=members[0][0], members=told)


def joined(talk: Conversation, group: str) -> Any:
    """The only member of a group that is stable, off the record: the reply to its joining."""
    talk.await_coordinator(group)
    member = talk.look(join(group), 4).member_id
    reply = talk.look(join(group, member), 4)
    assert reply.error_code == 0, reply
    synced = talk.look(sync(group, reply.generation_id, member, b"all"), 3)
    assert synced.error_code == 0, synced
    return reply


def places_of(
    talk: Conversation, group: str, generation: int, member: str
) -> dict[str, tuple[str, int, str]]:
    """The member's own place in its group, and all that are not."""
    return {
        "stable": (group, generation, member),
        "an old generation": (group, generation - 1, member),
        "a future generation": (group, generation + 1, member),
        "an unknown member": (group, generation, "nobody"),
        "an unknown group": (talk.name("unknown"), generation, member),
        "no group": ("", generation, member),
    }


@script(ApiKey.FIND_COORDINATOR)
def coordinators_are_found(talk: Conversation) -> None:
    talk.await_coordinator(talk.name("group"))

    def ask(step: str, *keys: str, kind: int = 0) -> None:
        talk.ask(step, FindCoordinatorRequest(key=keys[0], key_type=kind, coordinator_keys=keys))

    ask("one", talk.name("group"))
    ask("no name", "")
    if talk.version >= 1:
        ask("unknown kind", talk.name("group"), kind=9)
    if talk.version >= 4:
        ask("two", talk.name("a"), talk.name("b"))


@script(JOIN)
def a_member_joins_alone(talk: Conversation) -> None:
    group = talk.name("group")
    talk.await_coordinator(group)
    first = talk.ask("without an id", join(group))
    member = first.member_id
    talk.write_down("id", {"begins with the client's": member.startswith("script-")})
    if talk.version >= 4:
        first = talk.ask("with the id", join(group, member))
    talk.ask("sync", sync(group, first.generation_id, member, b"all"), 5)
    talk.ask("heartbeat", heartbeat(group, first.generation_id, member), 4)
    second = talk.ask("joins again", join(group, member))
    talk.ask("heartbeat while joining", heartbeat(group, second.generation_id, member), 4)
    talk.ask("leave", leave(group, (member, None)), 5)
    talk.ask("after it left", join(group, member))


@script(JOIN)
def groups_that_cannot_be_joined(talk: Conversation) -> None:
    group = talk.name("group")
    talk.await_coordinator(group)
    talk.ask("no group", join(""))
    talk.ask("a session too short", join(group, session_ms=10))
    talk.ask("a session too long", join(group, session_ms=2**31 - 1))
    talk.ask("an unknown member", join(group, "nobody"))
    talk.ask("no protocols", join(group, protocols=()))
    talk.ask("no kind", join(group, kind=""))


@script(JOIN)
def members_that_do_not_fit_are_refused(talk: Conversation) -> None:
    group = talk.name("group")
    first = joined(talk, group)
    talk.ask("another kind", join(group, first.member_id, kind="connect"))
    talk.ask("a stranger of another kind", join(group, kind="connect"))
    talk.ask("a stranger with another protocol", join(group, protocols=("sticky",)))
    talk.look(leave(group, (first.member_id, None)), 3)


@script(JOIN)
def two_members_share_a_generation(talk: Conversation) -> None:
    group = talk.name("group")
    first = joined(talk, group)
    with talk.beside() as second:
        asked = join(group, protocols=("sticky", "range"), subscribed="other")
        if talk.version >= 4:
            named = second.ask("second, without an id", asked)
            asked.member_id = named.member_id
        second.send(asked, talk.version)
        # The first one learns of it by its heartbeat, sooner or later.
        talk.await_answer(heartbeat(group, first.generation_id, first.member_id), 3, error_code=27)
        talk.ask("heartbeat", heartbeat(group, first.generation_id, first.member_id), 4)
        lead = talk.look(join(group, first.member_id), talk.version)
        follow = second.receive(asked, talk.version)
        talk.write_down("generation", {
            "leader leads": lead.leader == lead.member_id,
            "follower knows": follow.leader == lead.member_id,
            "members": tuple(sorted(bytes(one.metadata) for one in lead.members)),
            "members told to the follower": len(follow.members),
            "protocols": (lead.protocol_name, follow.protocol_name),
            "generations": (lead.generation_id, follow.generation_id),
        })  # fmt: skip
        waiting = sync(group, lead.generation_id, follow.member_id)
        second.send(waiting, 5)
        talk.ask("the leader's sync", sync(group, lead.generation_id, lead.member_id, b"l"), 5)
        answer = second.receive(waiting, 5)
        talk.write_down("the follower's sync", {
            "error": answer.error_code, "assignment": bytes(answer.assignment),
        })  # fmt: skip
        members = [(lead.member_id, None), (follow.member_id, None), ("nobody", None)]
        talk.ask("both leave, and a stranger", leave(group, *members), 5)


@script(JOIN, first=5)
def static_members_keep_their_place(talk: Conversation) -> None:
    group = talk.name("group")
    talk.await_coordinator(group)
    first = talk.ask("first", join(group, instance="one"))
    generation = first.generation_id
    talk.ask("sync", sync(group, generation, first.member_id, b"all", group_instance_id="one"), 5)
    again = talk.ask("comes back", join(group, instance="one"))
    talk.write_down("id", {"is new": again.member_id != first.member_id})
    talk.ask("the old one", heartbeat(group, again.generation_id, first.member_id, "one"), 4)
    talk.ask("the new one", heartbeat(group, again.generation_id, again.member_id, "one"), 4)
    talk.ask("a stranger", heartbeat(group, again.generation_id, again.member_id, "two"), 4)
    talk.ask("the old one joins", join(group, first.member_id, instance="one"))
    talk.ask("by its instance", leave(group, ("", "one"), ("", "two")), 5)


@script(SYNC)
def assignments_are_handed_out(talk: Conversation) -> None:
    group = talk.name("group")
    first = joined(talk, group)
    member, generation = first.member_id, first.generation_id
    for step, place in places_of(talk, group, generation, member).items():
        talk.ask(step, sync(*place))
    talk.ask("another kind", sync(group, generation, member, protocol_type="connect"))
    talk.ask("another protocol", sync(group, generation, member, protocol_name="sticky"))
    if talk.version >= 5:
        talk.ask("no kind", sync(group, generation, member, protocol_type=None))
        talk.ask("no protocol", sync(group, generation, member, protocol_name=None))
    talk.look(leave(group, (member, None)), 3)


@script(ApiKey.HEARTBEAT)
def heartbeats_are_answered(talk: Conversation) -> None:
    group = talk.name("group")
    first = joined(talk, group)
    for step, place in places_of(talk, group, first.generation_id, first.member_id).items():
        talk.ask(step, heartbeat(*place))
    talk.look(leave(group, (first.member_id, None)), 3)


@script(ApiKey.LEAVE_GROUP)
def members_leave(talk: Conversation) -> None:
    group = talk.name("group")
    first = joined(talk, group)
    talk.ask("an unknown member", leave(group, ("nobody", None)))
    talk.ask("an unknown group", leave(talk.name("unknown"), ("nobody", None)))
    talk.ask("no group", leave("", ("nobody", None)))
    talk.ask("the only one", leave(group, (first.member_id, None)))
    talk.ask("once more", leave(group, (first.member_id, None)))
