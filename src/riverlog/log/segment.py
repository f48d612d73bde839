"""One file of a partition's log: batches one after the other, byte for byte as they were sent."""

from collections.abc import Iterable, Iterator

from fastcrc import crc64

from riverlog.log.batches import Stretch
from riverlog.log.sparse_index import NO_TIMESTAMP, SparseIndex
from riverlog.records.batch import BatchHeader
from riverlog.records.crc import Buffer

LOG_SUFFIX = ".log"
_OFFSET_DIGITS = 20

# From a position in a segment file up to another.
Hole = tuple[int, int]


class Segment:
    """What is known of one segment file. `size_bytes` counts batches, not zeros filled ahead.

    `hash_so_far` is over all bytes up to `size_bytes` but those in holes. `holes` are stretches
    whose bytes were found damaged: they are kept aside, and never served. `unverified` is a
    stretch from the start, and the hash it should have, that was not read since the broker
    started: it is checked, and its part of the index made, before anything here is served.
    `first_append_ms` and `last_append_ms` are by our clock; -1 where nobody knows.
    """

    __slots__ = (
        "base_offset", "directory", "first_append_ms", "hash_so_far", "holes", "index",
        "is_sealed", "last_append_ms", "max_timestamp_ms", "next_offset", "path", "record_count",
        "size_bytes", "unverified",
    )  # fmt: skip

    def __init__(self, directory: str, base_offset: int) -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.path = f"{directory}/{file_name(base_offset)}"
        self.size_bytes = 0
        self.next_offset = base_offset
        self.hash_so_far = 0
        self.max_timestamp_ms = NO_TIMESTAMP
        self.record_count = 0
        self.first_append_ms = NO_TIMESTAMP
        self.last_append_ms = NO_TIMESTAMP
        self.index = SparseIndex()
        self.holes: list[Hole] = []
        self.unverified: tuple[int, int] | None = None
        self.is_sealed = False

    def add(self, header: BatchHeader, position: int) -> None:
        """Tells of the batch at `position`, the last one by now."""
        self.index.add(header.base_offset, position, header.max_timestamp_ms)
        self._grew_to(position + header.size_bytes, header)

    def _grew_to(self, size_bytes: int, added: BatchHeader | Stretch) -> None:
        self.size_bytes = size_bytes
        self.next_offset = added.next_offset
        self.record_count += added.record_count
        if added.max_timestamp_ms > self.max_timestamp_ms:
            self.max_timestamp_ms = added.max_timestamp_ms

    def add_all(self, stretch: Stretch, position: int) -> None:
        """Tells of batches from `position` on, the last ones by now."""
        offset, at = stretch.base_offset, position
        for mark in stretch.marks:
            self.index.add(offset, at, mark.max_timestamp_ms)
            offset, at = mark.base_offset, position + mark.position
        self.index.add(offset, at, stretch.max_timestamp_ms)
        self._grew_to(position + stretch.size_bytes, stretch)

    def beside(self, suffix: str) -> str:
        """The path of a file that belongs to this segment: its index, its seal, its damage."""
        return self.path.removesuffix(LOG_SUFFIX) + suffix

    def end_of_stretch(self, position: int, end: int) -> int:
        """How far bytes may be served from `position` on: up to the next hole, at most `end`."""
        return min([end, *(start for start, _ in self.holes if start >= position)])

    def past_hole(self, position: int) -> int:
        """`position` itself, or where the hole ends that it lies in."""
        return next((end for start, end in self.holes if start <= position < end), position)


def hash_of(data: Buffer, so_far: int = 0) -> int:
    """The hash that seals carry: CRC-64/XZ over all bytes, taken in as many steps as one likes."""
    value: int = crc64.xz(data, so_far)
    return value


def file_name(base_offset: int) -> str:
    return f"{base_offset:0{_OFFSET_DIGITS}d}{LOG_SUFFIX}"


def segment_of(name: str) -> int | None:
    """The base offset of the segment that a file is, or belongs to; None for other files."""
    digits, dot, _ = name.partition(".")
    is_of_one = dot and len(digits) == _OFFSET_DIGITS and digits.isascii() and digits.isdigit()
    return int(digits) if is_of_one else None


def segment_names(names: Iterable[str]) -> Iterator[int]:
    """The base offsets of those names that are segments'."""
    for name in names:
        base_offset = segment_of(name)
        if base_offset is not None and name == file_name(base_offset):
            yield base_offset


def kept_segments(names: Iterable[str], start_offset: int) -> list[int]:
    """The segments of a log that begins at `start_offset`, without those that lie before it."""
    bases = sorted(segment_names(names))
    gone = sum(following <= start_offset for following in bases[1:])
    return bases[gone:]


def segments_before(names: Iterable[str], first_offset: int) -> frozenset[int]:
    """The segments before `first_offset` of which there are any files."""
    found = map(segment_of, names)
    return frozenset(base for base in found if base is not None and base < first_offset)
