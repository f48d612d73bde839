"""Groups' durable facts as records of `__consumer_offsets`, in Kafka's own bytes.

A key begins with its version, which tells what it is about: 1 an offset, 2 a group. A record
without a value ends what its key is about. `docs/formats/consumer-offsets.md` has the layouts.
"""

from functools import lru_cache
from struct import Struct, error
from typing import NamedTuple

from riverlog.groups.facts import (
    DurableFact,
    GenerationSettled,
    GroupForgotten,
    OffsetCommitted,
    OffsetForgotten,
    SettledMember,
)

OFFSET_KEY, GROUP_KEY = 1, 2
OFFSET_VALUE, EXPIRING_OFFSET_VALUE, GROUP_VALUE = 3, 1, 3

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_NULL = b"\xff\xff"


class Entry(NamedTuple):
    """A record's key and value."""

    key: bytes
    value: bytes | None


class UnknownRecord(Exception):
    """A record that this version cannot read; it is left as it is."""


@lru_cache(maxsize=4096)
def partition_of(group_id: str, partition_count: int) -> int:
    """Where a group's records are: as Kafka has it, by Java's hash of its name."""
    code = 0
    data = group_id.encode("utf-16-be", "surrogatepass")
    for high, low in zip(data[::2], data[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >= 1 << 31 else code
    # Java's abs has no positive for its smallest number, and Kafka takes 0 for it.
    return 0 if signed == -(1 << 31) else abs(signed) % partition_count


def encode(group_id: str, fact: DurableFact) -> Entry:
    """The fact as it stands in the log."""
    match fact:
        case OffsetCommitted():
            return Entry(_offset_key(group_id, fact.topic, fact.partition), _offset_value(fact))
        case OffsetForgotten():
            return Entry(_offset_key(group_id, fact.topic, fact.partition), None)
        case GenerationSettled():
            return Entry(_INT16.pack(GROUP_KEY) + _string(group_id), _group_value(fact))
        case GroupForgotten():
            return Entry(_INT16.pack(GROUP_KEY) + _string(group_id), None)


def decode(key: bytes | None, value: bytes | None) -> tuple[str, DurableFact]:
    """The group and the fact; raises `UnknownRecord`."""
    try:
        reader = _Reader(key or b"")
        version = reader.int16()
        if version in (0, OFFSET_KEY):
            group_id, topic, partition = reader.string(), reader.string(), reader.int32()
            if value is None:
                return group_id, OffsetForgotten(topic, partition)
            return group_id, _read_offset(topic, partition, _Reader(value))
        if version == GROUP_KEY:
            group_id = reader.string()
            return group_id, GroupForgotten() if value is None else _read_group(_Reader(value))
    except (error, UnicodeDecodeError, IndexError) as failure:
        raise UnknownRecord("a record of the offsets topic is cut or damaged") from failure
    raise UnknownRecord(f"a record of the offsets topic has a key of version {version}")


def _offset_key(group_id: str, topic: str, partition: int) -> bytes:
    start = _INT16.pack(OFFSET_KEY) + _string(group_id)
    return start + _string(topic) + _INT32.pack(partition)


def _offset_value(fact: OffsetCommitted) -> bytes:
    metadata, time = _string(fact.metadata), _INT64.pack(fact.time_ms)
    if fact.expires_ms >= 0:
        start = _INT16.pack(EXPIRING_OFFSET_VALUE) + _INT64.pack(fact.offset)
        return start + metadata + time + _INT64.pack(fact.expires_ms)
    start = _INT16.pack(OFFSET_VALUE) + _INT64.pack(fact.offset) + _INT32.pack(fact.leader_epoch)
    return start + metadata + time


def _read_offset(topic: str, partition: int, reader: "_Reader") -> OffsetCommitted:
    version = reader.int16()
    if not 0 <= version <= OFFSET_VALUE:
        raise UnknownRecord(f"an offset of version {version}")
    offset = reader.int64()
    leader_epoch = reader.int32() if version >= 3 else -1
    metadata, time_ms = reader.string(), reader.int64()
    expires_ms = reader.int64() if version == EXPIRING_OFFSET_VALUE else -1
    return OffsetCommitted(topic, partition, offset, leader_epoch, metadata, time_ms, expires_ms)


def _group_value(fact: GenerationSettled) -> bytes:
    parts = [
        _INT16.pack(GROUP_VALUE),
        _string(fact.protocol_type),
        _INT32.pack(fact.generation),
        _optional(fact.protocol),
        _optional(fact.leader_id),
        _INT64.pack(fact.time_ms),
        _INT32.pack(len(fact.members)),
    ]
    for member in fact.members:
        parts += [
            _string(member.member_id),
            _optional(member.instance_id),
            _string(member.client_id),
            _string(member.client_host),
            _INT32.pack(member.rebalance_timeout_ms),
            _INT32.pack(member.session_timeout_ms),
            _bytes(member.subscription),
            _bytes(member.assignment),
        ]
    return b"".join(parts)


def _read_group(reader: "_Reader") -> GenerationSettled:
    version = reader.int16()
    if version != GROUP_VALUE:
        raise UnknownRecord(f"a group of version {version}")
    protocol_type, generation = reader.string(), reader.int32()
    protocol, leader_id, time_ms = reader.optional(), reader.optional(), reader.int64()
    members = tuple(
        SettledMember(
            reader.string(),
            reader.optional(),
            reader.string(),
            reader.string(),
            reader.int32(),
            reader.int32(),
            reader.data(),
            reader.data(),
        )
        for _ in range(reader.int32())
    )
    return GenerationSettled(generation, protocol_type, protocol, leader_id, time_ms, members)


def _string(text: str) -> bytes:
    data = text.encode()
    return _INT16.pack(len(data)) + data


def _optional(text: str | None) -> bytes:
    return _NULL if text is None else _string(text)


def _bytes(data: bytes) -> bytes:
    return _INT32.pack(len(data)) + data


class _Reader:
    """Reads one field after the other; raises `struct.error` or `IndexError` at the end."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def int64(self) -> int:
        return self._number(_INT64)

    def string(self) -> str:
        return self.optional() or ""

    def optional(self) -> str | None:
        length = self.int16()
        return None if length < 0 else self._take(length).decode()

    def data(self) -> bytes:
        return self._take(max(self.int32(), 0))

    def _number(self, layout: Struct) -> int:
        number: int = layout.unpack_from(self._data, self._at)[0]
        self._at += layout.size
        return number

    def _take(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        if self._at > len(self._data):
            raise IndexError("the record ends before its last field does")
        return self._data[start : self._at]
