"""What the members of a consumer group tell each other, and how they share the partitions.

The broker carries these bytes and does not read them; they are those of Kafka's own consumers, so
that members of every kind can be in one group.
"""

from collections.abc import Mapping
from struct import Struct, error
from typing import NamedTuple

PROTOCOL_TYPE = "consumer"
RANGE = "range"

_VERSION = 0
_SHORT = Struct(">h")
_INT = Struct(">i")
_NULL_BYTES = _INT.pack(-1)


class Member(NamedTuple):
    """One member of a group, and what it wants to read."""

    member_id: str
    topics: tuple[str, ...]


class UnreadableMember(Exception):
    """A member speaks of itself in a way that is none of Kafka's consumers'."""


def write_topics(topics: list[str]) -> bytes:
    """What a member says when it joins."""
    parts = [_SHORT.pack(_VERSION), _INT.pack(len(topics)), *map(_text, topics), _NULL_BYTES]
    return b"".join(parts)


def read_topics(data: bytes) -> tuple[str, ...]:
    """What another member said, of whatever version; raises `UnreadableMember`."""
    try:
        (count,) = _INT.unpack_from(data, _SHORT.size)
        at = _SHORT.size + _INT.size
        topics = []
        for _ in range(count):
            topic, at = _read_text(data, at)
            topics.append(topic)
    except (error, UnicodeDecodeError) as wrong:
        raise UnreadableMember(str(wrong)) from None
    return tuple(topics)


def write_assignment(assignment: Mapping[str, list[int]]) -> bytes:
    """What the leader of a group says to a member."""
    parts = [_SHORT.pack(_VERSION), _INT.pack(len(assignment))]
    for topic, partitions in assignment.items():
        parts += [_text(topic), _INT.pack(len(partitions)), *map(_INT.pack, partitions)]
    return b"".join((*parts, _NULL_BYTES))


def read_assignment(data: bytes) -> dict[str, list[int]]:
    """What the leader gave us; nothing at all is nothing to read."""
    assignment: dict[str, list[int]] = {}
    if not data:
        return assignment
    try:
        (count,) = _INT.unpack_from(data, _SHORT.size)
        at = _SHORT.size + _INT.size
        for _ in range(count):
            topic, at = _read_text(data, at)
            (size,) = _INT.unpack_from(data, at)
            at += _INT.size
            end = at + max(size, 0) * _INT.size
            assignment[topic] = [partition for (partition,) in _INT.iter_unpack(data[at:end])]
            at = end
    except (error, UnicodeDecodeError) as wrong:
        raise UnreadableMember(str(wrong)) from None
    return assignment


def share_by_range(
    members: list[Member], partition_counts: Mapping[str, int]
) -> dict[str, dict[str, list[int]]]:
    """Kafka's range assignor: each topic is cut into as many ranges as members want it.

    By member id, every partition of every topic that somebody wants and that has partitions.
    """
    shares: dict[str, dict[str, list[int]]] = {member.member_id: {} for member in members}
    for topic, count in sorted(partition_counts.items()):
        wanting = sorted(member.member_id for member in members if topic in member.topics)
        start = 0
        for number, member_id in enumerate(wanting):
            size = count // len(wanting) + (number < count % len(wanting))
            if size:
                shares[member_id][topic] = list(range(start, start + size))
            start += size
    return shares


def _text(text: str) -> bytes:
    data = text.encode()
    return _SHORT.pack(len(data)) + data


def _read_text(data: bytes, at: int) -> tuple[str, int]:
    (length,) = _SHORT.unpack_from(data, at)
    end = at + _SHORT.size + max(length, 0)
    if end > len(data):
        raise UnreadableMember("a name is cut short")
    return data[at + _SHORT.size : end].decode(), end
