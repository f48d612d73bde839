"""Opening a partition's log: what is in its files, from the last checkpoint on.

A clean stop leaves a checkpoint at the very end. Otherwise everything behind the checkpoint is
read, checked, written again and synced before it counts: the page cache may show bytes that the
disk never got.
"""

from collections.abc import Sequence
from typing import NamedTuple

from riverlog.log.checkpoint import CHECKPOINT_NAME, SEAL_SUFFIX, Checkpoint, Seal
from riverlog.log.damage import (
    Damage,
    Report,
    forget_holes,
    keep_aside,
    note_holes,
    read_checked,
    read_holes,
)
from riverlog.log.epochs import NO_EPOCH, Epochs
from riverlog.log.producers import UNKNOWN_MS, Producers
from riverlog.log.scan import Scanned, known_from, rising_to, scan
from riverlog.log.segment import Segment, hash_of, kept_segments, segments_before
from riverlog.log.start_offset import START_NAME, read_start
from riverlog.records.batch import BatchHeader
from riverlog.stores.disk import Disk, File, opened
from riverlog.stores.small_file import write_small_file


class Recovered(NamedTuple):
    """A log as it was found. The last segment, if any, may be written on at `next_offset`.

    Of the segments `left_over`, which were about to be removed, there still are files.
    """

    segments: list[Segment]
    epochs: Epochs
    producers: Producers
    log_start_offset: int
    next_offset: int
    checkpoint: Checkpoint | None
    left_over: frozenset[int]


class Recovery:
    """Opens the last of a partition's `directories`; `run` once.

    Without `rewrites` it only looks: for a live log whose durable part is known.
    """

    def __init__(
        self,
        disk: Disk,
        directories: Sequence[str],
        *,
        epoch_max: int,
        rewrites: bool,
        report: Report,
    ) -> None:
        self._disk = disk
        self._directories = directories
        self._directory = directories[-1]
        self._epoch_max = epoch_max
        self._rewrites = rewrites
        self._has_scanned = False
        self._report = report
        self._epochs = Epochs()
        self._producers = Producers()
        self._known_offset = 0
        self._resume_offset = 0

    def run(self) -> Recovered:
        """Everything durable when it returns; damage has been reported and kept aside."""
        names = self._disk.list(self._directory) if self._disk.exists(self._directory) else []
        start = 0
        if START_NAME in names:
            start = read_start(self._disk, self._directory, self._report)
        checkpoint = self._read_checkpoint()
        # What no checkpoint tells of is read, even if it lies before the start: for its producers.
        told_offset = 0 if checkpoint is None else min(checkpoint.next_offset, start)
        bases = kept_segments(names, told_offset)
        left_over = segments_before(names, min([told_offset, *bases[:1]]))
        if checkpoint is not None and checkpoint.next_offset > start:
            self._find_missing(bases, checkpoint)
        if checkpoint is not None:
            self._epochs, self._producers = checkpoint.restore()
            self._known_offset = checkpoint.next_offset
        segments: list[Segment] = []
        for base_offset in bases:
            segment = self._open_segment(base_offset, checkpoint, base_offset == bases[-1])
            segments.append(segment)
            self._resume_offset = max(self._resume_offset, segment.next_offset)
        is_covered = (
            checkpoint is not None
            and bases[-1:] == [checkpoint.base_offset]
            and checkpoint.log_start_offset >= start
        )
        if names and self._rewrites and (self._has_scanned or not is_covered):
            # Names, like bytes, may be nowhere but in memory, those of directories too.
            for directory in reversed(self._directories):
                self._disk.sync_directory(directory)
        if segments:
            start = max(start, segments[0].base_offset)
            self._epochs.trim(segments[0].base_offset)
        if checkpoint is not None:
            # Even if the bytes are gone: an offset that was given is never given again.
            self._resume_offset = max(self._resume_offset, checkpoint.next_offset)
            start = max(start, checkpoint.log_start_offset)
        return Recovered(
            segments,
            self._epochs,
            self._producers,
            start,
            max(self._resume_offset, start),
            checkpoint,
            left_over,
        )

    def _read_checkpoint(self) -> Checkpoint | None:
        path = f"{self._directory}/{CHECKPOINT_NAME}"
        content = read_checked(self._disk, path, self._report)
        return None if content is None else Checkpoint.from_bytes(content)

    def _find_missing(self, bases: list[int], checkpoint: Checkpoint) -> None:
        if checkpoint.base_offset not in bases:
            missing = Segment(self._directory, checkpoint.base_offset).path
            self._report(Damage(missing, 0, checkpoint.position, "the segment is missing", ""))

    def _open_segment(
        self, base_offset: int, checkpoint: Checkpoint | None, is_last: bool
    ) -> Segment:
        segment = Segment(self._directory, base_offset)
        segment.holes = read_holes(self._disk, segment, self._report)
        seal = read_seal(self._disk, segment, self._report)
        segment.is_sealed = seal is not None
        with opened(self._disk.open(segment.path)) as file:
            end = file.size() if seal is None else min(file.size(), seal.size_bytes)
            is_whole = self._is_whole(segment, checkpoint, seal, end)
            covered = self._take_over(segment, checkpoint, seal, end)
            if covered < end:
                at_least = (0, 0) if checkpoint is None else checkpoint.place
                # The checkpoint's state holds what stands before it in the log already.
                is_new = (base_offset, covered) >= at_least
                may_cut = is_last and seal is None and is_whole and is_new
                self._scan(segment, file, covered, end, is_new=is_new, may_cut=may_cut)
        if seal is not None and is_whole and seal.hash_so_far != segment.hash_so_far:
            self._note_other_hash(segment, seal)
        if seal is not None:
            self._resume_offset = max(self._resume_offset, seal.resume_offset)
        if not is_last and seal is None:
            content = seal_of(segment, segment.next_offset).to_bytes()
            write_small_file(self._disk, segment.beside(SEAL_SUFFIX), content)
            segment.is_sealed = True
        return segment

    def _is_whole(
        self, segment: Segment, checkpoint: Checkpoint | None, seal: Seal | None, end: int
    ) -> bool:
        """Whether all bytes are there that seal and checkpoint tell of; if not, reports it."""
        size = 0 if seal is None else seal.size_bytes
        if checkpoint is not None and checkpoint.base_offset == segment.base_offset:
            size = max(size, checkpoint.position)
        if size <= end:
            return True
        reason = f"{size - end} bytes are missing at the end"
        self._report(Damage(segment.path, end, size - end, reason, ""))
        return False

    def _take_over(
        self, segment: Segment, checkpoint: Checkpoint | None, seal: Seal | None, end: int
    ) -> int:
        """Believes what checkpoint or seal say of the segment; the position they reach to."""
        known: Seal | Checkpoint
        if checkpoint is None or segment.base_offset > checkpoint.base_offset:
            return 0
        if segment.base_offset == checkpoint.base_offset:
            known, size = checkpoint, checkpoint.position
        elif seal is not None:
            known, size = seal, seal.size_bytes
        else:
            return 0
        if size > end:
            return 0
        segment.size_bytes = size
        segment.next_offset = known.next_offset
        segment.hash_so_far = known.hash_so_far
        segment.max_timestamp_ms = known.max_timestamp_ms
        segment.record_count = known.record_count
        segment.last_append_ms = known.last_append_ms
        if size:
            segment.unverified = (size, known.hash_so_far)
        return size

    def _scan(
        self, segment: Segment, file: File, start: int, end: int, *, is_new: bool, may_cut: bool
    ) -> None:
        """Reads on from `start`; `is_new` batches change the state of the log."""

        def found(header: BatchHeader, position: int, data: memoryview) -> None:
            segment.hash_so_far = hash_of(data, segment.hash_so_far)
            segment.add(header, position)
            segment.last_append_ms = UNKNOWN_MS
            if is_new:
                self._epochs.note(header.leader_epoch, header.base_offset)
                if header.has_producer:
                    self._producers.apply(header, UNKNOWN_MS)
            if self._rewrites:
                # Makes the page dirty again, should a failed sync have called it clean.
                file.write(position, data)

        known = known_from(self._epochs, self._known_offset)
        fits = rising_to(self._epoch_max) if is_new else known
        epoch = self._epochs.latest if is_new else NO_EPOCH
        anchors = {end for _, end in segment.holes}
        scanned = scan(file, start, end, segment.next_offset, epoch, fits, found, anchors)
        holes = list(scanned.holes)
        if not may_cut and scanned.position < end:
            holes.append((scanned.position, end))
        note_holes(self._disk, segment, holes, self._report)
        if may_cut:
            self._cut(segment, file, scanned)
        self._has_scanned = True
        if self._rewrites:
            file.sync()

    def _cut(self, segment: Segment, file: File, scanned: Scanned) -> None:
        """Ends the file behind its last batch; what was torn there is kept aside."""
        if scanned.torn is not None:
            start, end = scanned.torn
            kept_in = keep_aside(self._disk, segment, start, end, "torn")
            reason = "the last write was torn; it was not acknowledged as durable"
            self._report(Damage(segment.path, start, end - start, reason, kept_in))
        forget_holes(self._disk, segment, scanned.position)
        if file.size() > scanned.position:
            file.truncate(scanned.position)
            file.sync()

    def _note_other_hash(self, segment: Segment, seal: Seal) -> None:
        """Batches were found damaged and left out, or all are sound, and an epoch was changed."""
        size = segment.size_bytes
        if not segment.holes:
            kept_in = keep_aside(self._disk, segment, 0, size, "damaged")
            reason = "the epoch of a batch was changed; which one cannot be told"
            self._report(Damage(segment.path, 0, size, reason, kept_in))
        content = seal._replace(hash_so_far=segment.hash_so_far).to_bytes()
        write_small_file(self._disk, segment.beside(SEAL_SUFFIX), content)


def read_seal(disk: Disk, segment: Segment, report: Report) -> Seal | None:
    """What is known of a segment since it was closed; None if it was not, or that is damaged."""
    content = read_checked(disk, segment.beside(SEAL_SUFFIX), report)
    return None if content is None else Seal.from_bytes(content)


def seal_of(segment: Segment, resume_offset: int) -> Seal:
    """The seal of a segment that is complete and durable."""
    return Seal(
        segment.size_bytes,
        segment.next_offset,
        resume_offset,
        segment.hash_so_far,
        segment.max_timestamp_ms,
        segment.record_count,
        segment.last_append_ms,
    )
