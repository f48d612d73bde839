"""Reading a log: whole batches by offset, and offsets by time. Batches stay unopened.

Positions come from the sparse index; what it does not know is walked, header by header. A
segment that was not read since the start is first checked against its seal.
"""

import errno
from bisect import bisect_right
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from riverlog.log.checkpoint import SEAL_SUFFIX
from riverlog.log.damage import Report, note_holes
from riverlog.log.epochs import NO_EPOCH, Epochs
from riverlog.log.recovery import read_seal
from riverlog.log.scan import WINDOW_BYTES, known_from, scan
from riverlog.log.segment import Segment
from riverlog.log.sparse_index import INTERVAL_BYTES, SparseIndex
from riverlog.log.verification import Verified, verify
from riverlog.records.batch import HEADER_SIZE, BatchHeader, read_header
from riverlog.records.errors import BatchError
from riverlog.records.record import iterate
from riverlog.stores.disk import Disk, File
from riverlog.stores.handles import Handles
from riverlog.stores.small_file import write_small_file

# What inflates to more counts as one record: it would hold up everybody else.
OPENED_BATCH_BYTES_MAX = 16 << 20

# What is checked at once, in the loop: some milliseconds' worth.
INLINE_CHECK_BYTES_MAX = 4 << 20

# Base offset, length and last offset delta of a batch: all that walking by offset needs.
_PLACE = Struct(">qi11xi")
_LENGTH_END = 12


class Timed(NamedTuple):
    """A record's place in time."""

    timestamp_ms: int
    offset: int
    leader_epoch: int


class _End(NamedTuple):
    """How far a log could be read at one time."""

    segment: Segment
    offset: int
    position: int


class Reader:
    """Reads the segments of one partition. `segments` is the partition's own list, and `epochs`
    are those of all records that were there at the start."""

    def __init__(
        self,
        segments: list[Segment],
        epochs: Epochs,
        disk: Disk,
        handles: Handles,
        report: Report,
    ) -> None:
        self._segments = segments
        self._epochs = epochs
        self._disk = disk
        self._handles = handles
        self._report = report
        self._end: _End | None = None
        self._end_before: _End | None = None
        self.has_unchecked = False
        self.count_unchecked()

    def count_unchecked(self) -> None:
        """Sees anew whether any segment was not checked since the start."""
        self.has_unchecked = any(segment.unverified is not None for segment in self._segments)

    def reached(self, end_offset: int, end_position: int) -> None:
        """The log can be read up to here now: whoever has read all of it will ask for the rest."""
        self._end_before = self._end
        self._end = _End(self._segments[-1], end_offset, end_position)

    def read(self, offset: int, bytes_max: int, end_offset: int, end_position: int) -> memoryview:
        """Whole batches from the one that holds `offset` on; empty if none is before the end.

        At least one batch, however large; beyond it no more than `bytes_max`. `end_offset` and
        `end_position` bound what is visible in the last segment.
        """
        before = self._end_before
        if before is not None and before.offset == offset:
            latest = self._read_latest(before, bytes_max, end_position)
            if latest is not None:
                return latest
        for segment in self._segments[self._number(offset) :]:
            if segment.base_offset >= end_offset:
                break
            if offset < segment.next_offset:
                is_last = segment is self._segments[-1]
                end = min(end_position, segment.size_bytes) if is_last else segment.size_bytes
                found = self._read_segment(segment, offset, bytes_max, end)
                if found:
                    return found
        return memoryview(b"")

    def first_at_or_after(
        self, timestamp_ms: int, start_offset: int, end_offset: int
    ) -> Timed | None:
        """The earliest record between two offsets whose timestamp is at least `timestamp_ms`."""
        for segment in self._segments[self._number(start_offset) :]:
            if segment.max_timestamp_ms < timestamp_ms:
                continue
            self._make_ready(segment)
            start = max(
                segment.index.position_before_time(timestamp_ms),
                segment.index.position_before(start_offset),
            )
            for position, header in self._walk(segment, start):
                if header.base_offset >= end_offset:
                    return None
                if header.max_timestamp_ms >= timestamp_ms and header.next_offset > start_offset:
                    visible = range(start_offset, end_offset)
                    for record in self._records(segment, position, header, visible):
                        if record.timestamp_ms >= timestamp_ms:
                            return record
        return None

    def latest_in_time(self, start_offset: int, end_offset: int) -> Timed | None:
        """The first record among those with the largest timestamp between two offsets."""
        best: tuple[Segment, int, BatchHeader] | None = None
        held = self._segments[self._number(start_offset) :]
        for segment in sorted(held, key=lambda s: (-s.max_timestamp_ms, s.base_offset)):
            if best is not None and segment.max_timestamp_ms <= best[2].max_timestamp_ms:
                break
            self._make_ready(segment)
            start = segment.index.position_before(start_offset)
            for position, header in self._walk(segment, start):
                if header.base_offset >= end_offset:
                    break
                if header.base_offset < start_offset:
                    continue
                if best is None or header.max_timestamp_ms > best[2].max_timestamp_ms:
                    best = segment, position, header
        visible = range(start_offset, end_offset)
        first = self._latest_in_cut_batch(visible)
        if best is None or (first is not None and first.timestamp_ms >= best[2].max_timestamp_ms):
            return first
        segment, position, header = best
        latest_ms = header.max_timestamp_ms
        for record in self._records(segment, position, header, visible):
            if record.timestamp_ms >= latest_ms:
                return record
        return Timed(latest_ms, header.base_offset, header.leader_epoch)

    def _latest_in_cut_batch(self, visible: range) -> Timed | None:
        """The latest record of the batch whose first ones were deleted, if there is such."""
        segment = self._segments[self._number(visible.start)] if self._segments else None
        if segment is None or segment.base_offset >= visible.start:
            return None
        self._make_ready(segment)
        for position, header in self._walk(segment, segment.index.position_before(visible.start)):
            if header.base_offset >= visible.start:
                break
            if header.next_offset > visible.start:
                records = self._records(segment, position, header, visible)
                return max(records, key=lambda record: record.timestamp_ms, default=None)
        return None

    def _read_latest(self, before: _End, bytes_max: int, end_position: int) -> memoryview | None:
        """All that can be read since the end was somewhere else, if it is in one piece."""
        segment = before.segment
        if segment is not self._segments[-1] or segment.holes or segment.unverified is not None:
            return None
        size = min(end_position, segment.size_bytes) - before.position
        if not 0 < size <= bytes_max:
            return None
        data = self._handles.use(segment.path).read(before.position, size)
        return memoryview(data) if len(data) == size else None

    def _read_segment(
        self, segment: Segment, offset: int, bytes_max: int, end: int
    ) -> memoryview | None:
        self._make_ready(segment)
        file = self._handles.use(segment.path)
        position = segment.index.position_before(offset)
        while (position := segment.past_hole(position)) < end:
            stop = segment.end_of_stretch(position, end)
            data = memoryview(file.read(position, _needed(segment, position, bytes_max, stop)))
            at = 0
            while at + _PLACE.size <= len(data):
                base_offset, length, last_delta = _PLACE.unpack_from(data, at)
                size = length + _LENGTH_END
                if base_offset + last_delta >= offset:
                    return self._whole_batches(
                        segment, file, position + at, size, bytes_max, stop, data[at:]
                    )
                at += size
            if not at:
                raise _shortened(segment)
            position += at
        return None

    def _whole_batches(
        self,
        segment: Segment,
        file: File,
        position: int,
        first_bytes: int,
        bytes_max: int,
        end: int,
        data: memoryview,
    ) -> memoryview:
        """Cuts `data`, which begins at `position`, behind a batch; at least the first is in it."""
        if first_bytes > len(data):
            return memoryview(file.read(position, first_bytes))
        if position + bytes_max >= end and end - position <= len(data):
            return data[: end - position]
        limit = position + min(bytes_max, len(data))
        cut = segment.index.boundary_before(limit) - position
        if cut <= first_bytes:
            cut = first_bytes
        # Between the last boundary the index knows and the limit, a few more may fit.
        while cut + _PLACE.size <= limit - position:
            size = _PLACE.unpack_from(data, cut)[1] + _LENGTH_END
            if cut + size > limit - position:
                break
            cut += size
        return data[:cut]

    def _walk(self, segment: Segment, position: int) -> Iterator[tuple[int, BatchHeader]]:
        """The headers from a known beginning on, over holes."""
        while (position := segment.past_hole(position)) < segment.size_bytes:
            file = self._handles.use(segment.path)
            data = file.read(position, min(WINDOW_BYTES, segment.size_bytes - position))
            at = 0
            while at + HEADER_SIZE <= len(data):
                header = read_header(data, at)
                yield position + at, header
                at += header.size_bytes
                if segment.past_hole(position + at) != position + at:
                    break
            if not at:
                raise _shortened(segment)
            position += at

    def _records(
        self, segment: Segment, position: int, header: BatchHeader, visible: range
    ) -> Iterator[Timed]:
        """The visible records of a batch; one with one time for all, or whose body lies, counts
        as one record."""
        first_offset = max(header.base_offset, visible.start)
        whole = Timed(header.max_timestamp_ms, first_offset, header.leader_epoch)
        if header.uses_append_time:
            yield whole
            return
        data = self._handles.use(segment.path).read(position, header.size_bytes)
        try:
            for record in iterate(data, decompressed_bytes_max=OPENED_BATCH_BYTES_MAX):
                if record.offset in visible:
                    yield Timed(record.timestamp_ms, record.offset, header.leader_epoch)
        except BatchError:
            yield whole

    def unready(self, offset: int) -> Segment | None:
        """The segment that a read at `offset` would have to check first, if it takes a while."""
        segment = self._segments[self._number(offset)] if self._segments else None
        if segment is None or segment.unverified is None:
            return None
        return segment if segment.unverified[0] > INLINE_CHECK_BYTES_MAX else None

    def settle(self, segment: Segment, verified: Verified) -> None:
        """Takes over what `verify` found of the unverified stretch of a segment."""
        if segment.unverified is None:
            return
        size, expected = segment.unverified
        if verified.hash_so_far != expected or verified.index is None:
            self._find_damage(segment, size)
        index = verified.index
        if index is None or segment.holes or segment.size_bytes > size:
            index = SparseIndex()
            for position, header in self._walk(segment, 0):
                index.add(header.base_offset, position, header.max_timestamp_ms)
        segment.index = index
        segment.unverified = None
        self.count_unchecked()

    def _make_ready(self, segment: Segment) -> None:
        """Checks what was not read since the start, and makes its part of the index."""
        if segment.unverified is not None:
            file = self._handles.use(segment.path)
            self.settle(segment, verify(file, segment.unverified[0], segment.holes))

    def _number(self, offset: int) -> int:
        return max(bisect_right(self._segments, offset, key=lambda s: s.base_offset) - 1, 0)

    def _find_damage(self, segment: Segment, size: int) -> None:
        """Some byte was changed: finds which batches are hit, and keeps the rest in service."""
        file = self._handles.use(segment.path)
        fits = known_from(self._epochs, segment.next_offset)
        anchors = {end for _, end in segment.holes}
        scanned = scan(
            file, 0, size, segment.base_offset, NO_EPOCH, fits, lambda *_batch: None, anchors
        )
        holes = [*scanned.holes, *([(scanned.position, size)] if scanned.position < size else [])]
        note_holes(self._disk, segment, holes, self._report)
        segment.hash_so_far = verify(file, segment.size_bytes, segment.holes).hash_so_far
        seal = read_seal(self._disk, segment, self._report)
        if seal is not None:
            content = seal._replace(hash_so_far=segment.hash_so_far).to_bytes()
            write_small_file(self._disk, segment.beside(SEAL_SUFFIX), content)


def _needed(segment: Segment, position: int, bytes_max: int, stop: int) -> int:
    """How much to read for all batches from `position` on that fit, if the first one does."""
    limit = position + bytes_max + INTERVAL_BYTES
    if stop <= limit:
        return stop - position
    # Of the batches that begin before the limit, those behind the last one that the index knows
    # begin within an interval of it; and where one fits, the next one begins before the limit.
    known = max(segment.index.boundary_before(limit), position)
    return min(known + INTERVAL_BYTES, limit) - position


def _shortened(segment: Segment) -> OSError:
    """Bytes that were there at the start are not there any more."""
    return OSError(errno.EIO, "the file was cut while it was in use", segment.path)
