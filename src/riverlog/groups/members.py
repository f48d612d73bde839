"""The members of a group: who they say they are, and what they wait for."""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

Protocols = tuple[tuple[str, bytes], ...]


class Awaits(Enum):
    """The reply that a member waits for."""

    NOTHING = 0
    GENERATION = 1  # It has joined, and others have not yet.
    ASSIGNMENT = 2  # It has asked for its share, and the leader has not told yet.
    PLACE = 3  # It takes over from a static member, once that is durable.


class Profile(NamedTuple):
    """What a member says of itself. `protocols` has its ways of sharing work, the dearest first."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Protocols

    @property
    def size_bytes(self) -> int:
        """What keeping its protocols takes."""
        return sum(len(name) + len(metadata) for name, metadata in self.protocols)

    def metadata_for(self, protocol: str | None) -> bytes:
        """What it tells the others about itself under this protocol."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")


class Member:
    """One member. `deadline_ms` is when it is given up unless it is heard of."""

    __slots__ = (
        "assignment", "awaits", "deadline_ms", "has_synced", "is_new", "profile", "replaces",
    )  # fmt: skip

    def __init__(self, profile: Profile, deadline_ms: int) -> None:
        self.profile = profile
        self.deadline_ms = deadline_ms
        self.assignment = b""
        self.awaits = Awaits.NOTHING
        self.is_new = False
        self.has_synced = False
        self.replaces: str | None = None

    def end_wait(self) -> None:
        self.awaits = Awaits.NOTHING
        self.replaces = None

    @property
    def can_expire(self) -> bool:
        """Whoever waits for us need not send heartbeats; only a newcomer may be gone by then."""
        return self.is_new or self.awaits in (Awaits.NOTHING, Awaits.PLACE)


class Members:
    """The members by id, in the order they came, and static ones by their instance too."""

    __slots__ = ("_by_id", "_by_instance")

    def __init__(self) -> None:
        self._by_id: dict[str, Member] = {}
        self._by_instance: dict[str, str] = {}

    def __iter__(self) -> Iterator[Member]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, member_id: str) -> Member | None:
        return self._by_id.get(member_id)

    def id_of_instance(self, instance_id: str) -> str | None:
        return self._by_instance.get(instance_id)

    def put(self, member: Member) -> None:
        profile = member.profile
        self._by_id[profile.member_id] = member
        if profile.instance_id is not None:
            self._by_instance[profile.instance_id] = profile.member_id

    def remove(self, member_id: str) -> Member:
        member = self._by_id.pop(member_id)
        instance_id = member.profile.instance_id
        if instance_id is not None and self._by_instance.get(instance_id) == member_id:
            del self._by_instance[instance_id]
        return member

    def clear(self) -> None:
        self._by_id.clear()
        self._by_instance.clear()

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any of them asks to be waited for."""
        return max((member.profile.rebalance_timeout_ms for member in self), default=0)


def shared_protocols(profiles: Sequence[Profile]) -> list[str]:
    """The protocols that all of them know, in the order of the first one's liking."""
    known = [{name for name, _ in profile.protocols} for profile in profiles[1:]]
    return [name for name, _ in profiles[0].protocols if all(name in names for names in known)]


def chosen_protocol(profiles: Sequence[Profile], present: str | None) -> str:
    """The protocol with most votes: everyone's is for the dearest of those that all know.

    Among equals the present one, else the one that the first member likes best.
    """
    candidates = shared_protocols(profiles)
    assert candidates, "whoever joins shares a protocol with the others"
    votes = dict.fromkeys(candidates, 0)
    for profile in profiles:
        votes[next(name for name, _ in profile.protocols if name in votes)] += 1
    return max(candidates, key=lambda name: (votes[name], name == present))
