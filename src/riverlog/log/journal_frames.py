"""The bytes of a journal file: frames, each with what one round of group commit had to keep. Pure.

A frame is written in one piece, and only when the one before it is durable. So whatever stands
behind a frame proves that it was durable once; only the last one may be torn. Every frame begins
with the salt of its file, which no client knows: records cannot be made to look like frames.
"""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from riverlog.records.crc import Buffer, crc32c

SALT_BYTES = 8
ALIGNMENT_BYTES = 8

# Salt, checksum of all that follows, number in its file, bytes behind this head, entries.
_HEAD = Struct(">8sIIII")
_CHECKSUM_AT = 8
_CHECKED_FROM = 12
# Partition, base offset of its segment, position in the segment's file, bytes.
_ENTRY = Struct(">20sqqI")
KEY_BYTES = 20


class Entry(NamedTuple):
    """Batches, one after the other, and the place in a segment file where they belong."""

    key: bytes
    segment_offset: int
    position: int
    parts: Sequence[Buffer]

    @property
    def size_bytes(self) -> int:
        return sum(map(len, self.parts))


class Frame(NamedTuple):
    """A frame as it was found in a file."""

    number: int
    position: int
    end: int
    entries: tuple[Entry, ...]


class Found(NamedTuple):
    """What a journal file holds. `holes` are frames that were durable and are damaged; `torn` is
    what stands behind the last sound frame, if anything does: (start, end) positions."""

    frames: list[Frame]
    holes: list[tuple[int, int]]
    torn: tuple[int, int] | None


def frame_bytes_max(entries: Sequence[Entry]) -> int:
    """At least as many bytes as a frame of these entries takes."""
    sizes = sum(entry.size_bytes + _ENTRY.size for entry in entries)
    return _HEAD.size + sizes + ALIGNMENT_BYTES


def encode(salt: bytes, number: int, entries: Sequence[Entry]) -> bytearray:
    """One frame, ready to be written where the one before it ends."""
    body: list[Buffer] = []
    size = 0
    for entry in entries:
        entry_size = entry.size_bytes
        body.append(_ENTRY.pack(entry.key, entry.segment_offset, entry.position, entry_size))
        body.extend(entry.parts)
        size += _ENTRY.size + entry_size
    padding = -(_HEAD.size + size) % ALIGNMENT_BYTES
    head = _HEAD.pack(salt, 0, number, size + padding, len(entries))
    frame = bytearray().join((head, *body, bytes(padding)))
    checksum = crc32c(memoryview(frame)[_CHECKED_FROM:])
    frame[_CHECKSUM_AT:_CHECKED_FROM] = checksum.to_bytes(4)
    return frame


def decode(salt: bytes, data: bytes) -> Found:
    """All sound frames of a file, whatever else is in it."""
    frames: list[Frame] = []
    holes: list[tuple[int, int]] = []
    position = number = 0
    while True:
        frame = _frame_at(salt, data, position)
        if frame is None or frame.number != number:
            frame = _next_sound(salt, data, position, number)
            if frame is None:
                break
            holes.append((position, frame.position))
        frames.append(frame)
        position, number = frame.end, frame.number + 1
    end = len(data.rstrip(b"\0"))
    return Found(frames, holes, (position, end) if end > position else None)


def _next_sound(salt: bytes, data: bytes, position: int, number: int) -> Frame | None:
    """The first sound frame behind `position`; it must come after frame `number`."""
    at = data.find(salt, position + 1)
    while at >= 0:
        frame = _frame_at(salt, data, at) if at % ALIGNMENT_BYTES == 0 else None
        if frame is not None and frame.number > number:
            return frame
        at = data.find(salt, at + 1)
    return None


def _frame_at(salt: bytes, data: bytes, position: int) -> Frame | None:
    if position + _HEAD.size > len(data):
        return None
    found_salt, crc, number, size, count = _HEAD.unpack_from(data, position)
    end = position + _HEAD.size + size
    if found_salt != salt or end > len(data):
        return None
    if crc32c(memoryview(data)[position + _CHECKED_FROM : end]) != crc:
        return None
    entries = _entries(data, position + _HEAD.size, end, count)
    return None if entries is None else Frame(number, position, end, entries)


def _entries(data: bytes, position: int, end: int, count: int) -> tuple[Entry, ...] | None:
    """So many entries, none of which goes beyond `end`; None if they do not fit there."""
    view = memoryview(data)
    entries = []
    for _ in range(count):
        start = position + _ENTRY.size
        if start > end:
            return None
        key, segment_offset, place, size = _ENTRY.unpack_from(data, position)
        position = start + size
        if position > end:
            return None
        entries.append(Entry(key, segment_offset, place, (view[start:position],)))
    return tuple(entries)
