"""What a rule decides: facts to apply, and who is told what."""

from collections.abc import Sequence
from typing import NamedTuple

from riverlog.groups.errors import GroupError
from riverlog.groups.facts import Fact


class Joined(NamedTuple):
    """A member is in a generation.

    Only the leader is told the members and what they said of themselves: id, instance, metadata.
    `replaces` is the id whose place a static member took; there is nothing to share out anew then.
    """

    member_id: str
    generation: int
    protocol_type: str
    protocol: str
    leader_id: str
    members: Sequence[tuple[str, str | None, bytes]] = ()
    replaces: str | None = None


class Synced(NamedTuple):
    """A member has its share of the work."""

    member_id: str
    protocol_type: str
    protocol: str
    assignment: bytes


class Refused(NamedTuple):
    """A member is told why not."""

    member_id: str
    error: GroupError


Reply = Joined | Synced | Refused


class Decision(NamedTuple):
    """Facts to apply in this order, and replies.

    `reply` is for whoever asked; when it is None, the reply comes later, to the member that
    `waits_as` names. `releases` are for members that have been waiting.
    """

    facts: Sequence[Fact] = ()
    reply: Reply | None = None
    releases: Sequence[Reply] = ()
    waits_as: str | None = None
