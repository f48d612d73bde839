"""What happens to a group, as facts. The last four are durable: records of `__consumer_offsets`.

The others are true only as long as the broker runs: after a restart members join, or carry on in
the generation that was settled last.
"""

from typing import NamedTuple

from riverlog.groups.members import Profile


class MemberIdGiven(NamedTuple):
    """Someone without an id was given one, and is to join with it before the deadline."""

    member_id: str
    deadline_ms: int


class MemberIdLapsed(NamedTuple):
    """An id that was given will not be used."""

    member_id: str


class MemberJoined(NamedTuple):
    """A member, new or not, waits for the next generation."""

    profile: Profile
    protocol_type: str
    deadline_ms: int


class MemberReplaced(NamedTuple):
    """A static member came back in another process, with another id."""

    former_id: str
    profile: Profile
    deadline_ms: int


class MemberHeard(NamedTuple):
    """A sign of life."""

    member_id: str
    deadline_ms: int


class MemberLeft(NamedTuple):
    """A member is gone: it said so, or was silent for too long."""

    member_id: str


class RebalanceBegan(NamedTuple):
    """Members are to join the next generation, until the deadline.

    The first members of a group are waited for in small steps: `delay_left_ms` is what is left
    for more of them, and None in every later rebalance.
    """

    deadline_ms: int
    delay_left_ms: int | None = None


class GenerationBegan(NamedTuple):
    """Everyone who joined is in; the leader is to share out the work until the deadline."""

    generation: int
    protocol: str
    leader_id: str
    at_ms: int
    deadline_ms: int


class GroupEmptied(NamedTuple):
    """The last member left, which is a generation of its own."""

    generation: int


class AssignmentAsked(NamedTuple):
    """A member has asked for its share of the work, and waits for it if it is not there yet."""

    member_id: str


class AssignmentMade(NamedTuple):
    """Everyone has a share, and it is durable: the group is stable."""

    assignments: dict[str, bytes]
    at_ms: int


class WaitEnded(NamedTuple):
    """A member that took a static member's place has been answered, or refused."""

    member_id: str


class Restored(NamedTuple):
    """After a start: the generation that was settled last goes on, its members just heard of."""

    at_ms: int


class SettledMember(NamedTuple):
    """A member as it is written down; `subscription` is for the settled protocol alone."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GenerationSettled(NamedTuple):
    """Durable: a generation and everyone's share in it; one without members is an empty group."""

    generation: int
    protocol_type: str
    protocol: str | None
    leader_id: str | None
    time_ms: int
    members: tuple[SettledMember, ...]


class OffsetCommitted(NamedTuple):
    """Durable: how far the group has come in a partition. `expires_ms` is -1 unless asked for."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    time_ms: int
    expires_ms: int = -1


class OffsetForgotten(NamedTuple):
    """Durable: the group has no offset in a partition any more."""

    topic: str
    partition: int


class GroupForgotten(NamedTuple):
    """Durable: the group is gone, and all its offsets."""


DurableFact = GenerationSettled | OffsetCommitted | OffsetForgotten | GroupForgotten
Fact = (
    MemberIdGiven
    | MemberIdLapsed
    | MemberJoined
    | MemberReplaced
    | MemberHeard
    | MemberLeft
    | RebalanceBegan
    | GenerationBegan
    | GroupEmptied
    | AssignmentAsked
    | AssignmentMade
    | WaitEnded
    | Restored
    | DurableFact
)
