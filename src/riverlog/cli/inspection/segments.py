"""One segment file: its batches walked and checked, or what its seal says of it."""

from collections.abc import Callable
from typing import NamedTuple

from riverlog.cli.inspection.small_files import (
    Find,
    Finding,
    read_holes,
    read_seal,
    unfinished,
)
from riverlog.log.checkpoint import SEAL_SUFFIX, Checkpoint, Seal
from riverlog.log.damage import DAMAGE_SUFFIX
from riverlog.log.epochs import NO_EPOCH
from riverlog.log.scan import Scanned, rising_to, scan
from riverlog.log.segment import Segment, hash_of
from riverlog.log.sparse_index import NO_TIMESTAMP
from riverlog.records.batch import BatchHeader
from riverlog.stores.disk import Disk, opened

_EPOCH_MAX = 2**31 - 1

# Hears of every sound batch: its header, its position, its bytes.
OnBatch = Callable[[BatchHeader, int, memoryview], None]

SEALED = "sealed"
CLOSED = "closed, not sealed"
OPEN = "open"


class SegmentFacts(NamedTuple):
    """What a segment file holds.

    `is_checked` when all of it was read; `batch_count` is None otherwise. The log goes on at
    `resume_offset`.
    """

    path: str
    state: str
    base_offset: int
    next_offset: int
    resume_offset: int
    file_bytes: int
    batch_bytes: int
    batch_count: int | None
    record_count: int
    max_timestamp_ms: int | None
    is_checked: bool


class Inspector(NamedTuple):
    """How segments are looked at, and who hears of what is found.

    Without `checks_all`, what a seal or checkpoint tells of is taken from there, unread.
    """

    disk: Disk
    checks_all: bool
    find: Find
    on_segment: Callable[[str], None]
    on_batch: OnBatch
    on_bytes: Callable[[int], None]

    def segment(
        self, segment: Segment, *, is_last: bool, checkpoint: Checkpoint | None
    ) -> SegmentFacts:
        """Looks at one; raises `OSError`, among them `FileNotFoundError` if it went meanwhile."""
        seal = read_seal(self.disk, segment.beside(SEAL_SUFFIX), self.find)
        segment.holes = read_holes(self.disk, segment.beside(DAMAGE_SUFFIX), self.find)
        self.on_segment(segment.path)
        with opened(self.disk.open(segment.path)) as file:
            file_bytes = file.size()
            end = file_bytes if seal is None else min(file_bytes, seal.size_bytes)
            is_whole = self._check_size(segment, seal, checkpoint, file_bytes)
            start = 0 if self.checks_all else self._take_over(segment, seal, checkpoint, end)
            batch_count = 0

            def found(header: BatchHeader, position: int, data: memoryview) -> None:
                nonlocal batch_count
                batch_count += 1
                segment.hash_so_far = hash_of(data, segment.hash_so_far)
                segment.add(header, position)
                self.on_batch(header, position, data)
                self.on_bytes(header.size_bytes)

            scanned = scan(
                file, start, end, segment.next_offset, NO_EPOCH, rising_to(_EPOCH_MAX), found,
                {hole_end for _, hole_end in segment.holes},
            )  # fmt: skip
        is_open = is_last and seal is None and is_whole
        is_after = checkpoint is None or (segment.base_offset, scanned.position) >= checkpoint.place
        has_holes = self._tell(segment, scanned, end, may_be_torn=is_open and is_after)
        is_walked = start == 0 and end > 0
        if seal is not None and is_whole and is_walked and not has_holes:
            self._check_seal(segment, seal)
        return SegmentFacts(
            segment.path,
            SEALED if seal is not None else OPEN if is_last else CLOSED,
            segment.base_offset,
            segment.next_offset,
            segment.next_offset if seal is None else max(seal.resume_offset, segment.next_offset),
            file_bytes,
            segment.size_bytes,
            batch_count if start == 0 else None,
            segment.record_count,
            None if segment.max_timestamp_ms == NO_TIMESTAMP else segment.max_timestamp_ms,
            start == 0,
        )

    def _check_size(
        self, segment: Segment, seal: Seal | None, checkpoint: Checkpoint | None, file_bytes: int
    ) -> bool:
        """Whether all bytes are there that seal and checkpoint tell of."""
        wanted = 0 if seal is None else seal.size_bytes
        if checkpoint is not None and checkpoint.base_offset == segment.base_offset:
            wanted = max(wanted, checkpoint.position)
        if wanted > file_bytes:
            missing = wanted - file_bytes
            told = f"{missing} bytes are missing at the end"
            self.find(Finding(segment.path, file_bytes, missing, told))
        elif seal is not None and file_bytes > seal.size_bytes:
            behind = file_bytes - seal.size_bytes
            told = f"the last {behind} bytes do not count: a sync failed there"
            self.find(Finding(segment.path, seal.size_bytes, behind, told, is_damage=False))
        return wanted <= file_bytes

    def _take_over(
        self, segment: Segment, seal: Seal | None, checkpoint: Checkpoint | None, end: int
    ) -> int:
        """Believes the seal, or the checkpoint if it stands in this segment, up to a position."""
        known: Seal | Checkpoint
        if seal is not None:
            known, position = seal, seal.size_bytes
        elif checkpoint is not None and checkpoint.base_offset == segment.base_offset:
            known, position = checkpoint, checkpoint.position
        else:
            return 0
        if not 0 < position <= end:
            return 0
        segment.size_bytes = position
        segment.next_offset = known.next_offset
        segment.record_count = known.record_count
        segment.max_timestamp_ms = known.max_timestamp_ms
        for start, hole_end in segment.holes:
            self._find_hole(segment, start, hole_end)
        return position

    def _tell(self, segment: Segment, scanned: Scanned, end: int, *, may_be_torn: bool) -> bool:
        """Tells of what is no batch; whether any of it is damage."""
        for start, hole_end in scanned.holes:
            self._find_hole(segment, start, hole_end)
        if scanned.position == end:
            return bool(scanned.holes)
        if not may_be_torn:
            self._find_hole(segment, scanned.position, end)
            return True
        if scanned.torn is not None:
            start, torn_end = scanned.torn
            self.find(unfinished(segment.path, start, torn_end))
        return bool(scanned.holes)

    def _find_hole(self, segment: Segment, start: int, end: int) -> None:
        told = "no sound batches here"
        if any(known <= start and end <= known_end for known, known_end in segment.holes):
            told += "; known to the broker, and never served"
        self.find(Finding(segment.path, start, end - start, told))

    def _check_seal(self, segment: Segment, seal: Seal) -> None:
        if segment.hash_so_far != seal.hash_so_far or segment.next_offset != seal.next_offset:
            told = "every batch is sound by itself, but together they are not what was sealed"
            self.find(Finding(segment.path, 0, segment.size_bytes, told))
