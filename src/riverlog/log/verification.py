"""Checking a segment against its hash, and making its index on the way. Safe in a thread."""

from collections.abc import Iterator, Sequence
from struct import Struct

from riverlog.log.segment import hash_of
from riverlog.log.sparse_index import SparseIndex
from riverlog.records.batch import HEADER_SIZE
from riverlog.stores.disk import File

WINDOW_BYTES = 1 << 20

# Base offset, length and largest timestamp: all that an index wants of a batch.
_PLACE = Struct(">qi23xq")
_LENGTH_END = 12


class Verified:
    """What was read: the hash of the bytes outside holes, and an index if they are batches."""

    __slots__ = ("hash_so_far", "index")

    def __init__(self, hash_so_far: int, index: SparseIndex | None) -> None:
        self.hash_so_far = hash_so_far
        self.index = index


def verify(file: File, size: int, holes: Sequence[tuple[int, int]]) -> Verified:
    """Reads the first `size` bytes once; raises `OSError`.

    It touches nothing but the file, so it may run in a thread while the segment grows behind
    `size`.
    """
    found = 0
    index: SparseIndex | None = SparseIndex()
    for start, end in _stretches(size, holes):
        batch = start
        position = start
        while position < end:
            data = file.read(position, min(WINDOW_BYTES, end - position))
            if not data:
                return Verified(found, None)
            found = hash_of(data, found)
            while index is not None and batch + HEADER_SIZE <= end:
                at = batch - position
                if at + HEADER_SIZE > len(data):
                    if at >= len(data):
                        break
                    header = file.read(batch, HEADER_SIZE)
                    base_offset, length, timestamp_ms = _PLACE.unpack_from(header)
                else:
                    base_offset, length, timestamp_ms = _PLACE.unpack_from(data, at)
                if length + _LENGTH_END < HEADER_SIZE:
                    index = None
                    break
                index.add(base_offset, batch, timestamp_ms)
                batch += length + _LENGTH_END
            position += len(data)
        if batch != end:
            index = None
    return Verified(found, index)


def _stretches(size: int, holes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    position = 0
    for start, end in sorted(holes):
        if start >= size:
            break
        if start > position:
            yield position, start
        position = end
    if position < size:
        yield position, size
