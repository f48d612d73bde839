"""Where to begin reading in a segment, by offset or by time. Pure.

One entry for every few KiB of a segment, kept in flat arrays: a million records cost kilobytes.
An index is a cache of what the segment says; it can always be made again from the batches.
"""

from array import array
from bisect import bisect_left, bisect_right

INTERVAL_BYTES = 4096
NO_TIMESTAMP = -1


class SparseIndex:
    """Entries in the order of the segment: a batch's base offset, where it begins, and the
    largest timestamp of all batches before it."""

    __slots__ = ("_max_timestamp_ms", "_offsets", "_positions", "_timestamps")

    def __init__(self) -> None:
        self._offsets = array("q")
        self._positions = array("q")
        self._timestamps = array("q")
        self._max_timestamp_ms = NO_TIMESTAMP

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, base_offset: int, position: int, max_timestamp_ms: int) -> None:
        """Tells of the next batch; it becomes an entry when it is far enough from the last."""
        if not self._positions or position - self._positions[-1] >= INTERVAL_BYTES:
            self._offsets.append(base_offset)
            self._positions.append(position)
            self._timestamps.append(self._max_timestamp_ms)
        if max_timestamp_ms > self._max_timestamp_ms:
            self._max_timestamp_ms = max_timestamp_ms

    def position_before(self, offset: int) -> int:
        """Where a batch begins whose base offset is at most `offset`; else the start."""
        found = bisect_right(self._offsets, offset)
        return self._positions[found - 1] if found else 0

    def position_before_time(self, timestamp_ms: int) -> int:
        """Where a batch begins before which every timestamp is smaller than `timestamp_ms`."""
        found = bisect_left(self._timestamps, timestamp_ms)
        return self._positions[found - 1] if found else 0

    def boundary_before(self, position: int) -> int:
        """The last known beginning of a batch at or before `position`; the start if none is."""
        found = bisect_right(self._positions, position)
        return self._positions[found - 1] if found else 0

    def cut(self, position: int) -> None:
        """Forgets the entries at `position` and after it."""
        keep = bisect_left(self._positions, position)
        for column in (self._offsets, self._positions, self._timestamps):
            del column[keep:]
