"""One partition's directory: its segments in order, its checkpoint, and what was kept aside."""

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from riverlog.cli.inspection.segments import Inspector, SegmentFacts
from riverlog.cli.inspection.small_files import Finding, going_on, read_checkpoint, read_start
from riverlog.log.checkpoint import CHECKPOINT_NAME, SEAL_SUFFIX, Checkpoint
from riverlog.log.damage import DAMAGE_SUFFIX
from riverlog.log.segment import LOG_SUFFIX, Segment, kept_segments
from riverlog.log.start_offset import START_NAME
from riverlog.stores.small_file import DRAFT_SUFFIX

TORN_SUFFIX = ".torn"
DAMAGED_SUFFIX = ".damaged"

# What the other files of a partition are for, by how their names end.
ASIDE = {
    TORN_SUFFIX: "a torn end that was cut off",
    DAMAGED_SUFFIX: "damaged bytes, as they were found",
    DRAFT_SUFFIX: "never finished, counts for nothing",
}
UNKNOWN = "not of Riverlog's making"


class CheckpointFacts(NamedTuple):
    """Where recovery would begin to read."""

    segment_base_offset: int
    position: int
    next_offset: int
    log_start_offset: int
    producer_count: int
    epochs: tuple[tuple[int, int], ...]


class AsideFacts(NamedTuple):
    """A file that is not served, and why it is there."""

    path: str
    size_bytes: int
    told: str


class PartitionFacts(NamedTuple):
    """What a partition holds. `recovery_bytes` is how much a start would have to read again."""

    path: str
    segments: tuple[SegmentFacts, ...]
    checkpoint: CheckpointFacts | None
    log_start_offset: int
    next_offset: int
    record_count: int
    file_bytes: int
    recovery_bytes: int
    aside: tuple[AsideFacts, ...]


def inspect_partition(inspector: Inspector, path: str) -> PartitionFacts:
    """Looks at a partition; raises `OSError`."""
    names = inspector.disk.list(path)
    start = read_start(inspector.disk, f"{path}/{START_NAME}", inspector.find)
    # Files of segments before the start are about to be removed.
    bases = kept_segments(names, start)
    checkpoint = read_checkpoint(inspector.disk, f"{path}/{CHECKPOINT_NAME}", inspector.find)
    segments: list[SegmentFacts] = []
    for base_offset in bases:
        segment = Segment(path, base_offset)
        is_last = base_offset == bases[-1]
        with going_on(segment.path, inspector.find):
            segments.append(inspector.segment(segment, is_last=is_last, checkpoint=checkpoint))
    _check_order(inspector, path, segments, checkpoint, start)
    start = max(start, segments[0].base_offset if segments else 0)
    return PartitionFacts(
        path,
        tuple(segments),
        None if checkpoint is None else _facts(checkpoint),
        start if checkpoint is None else max(start, checkpoint.log_start_offset),
        segments[-1].next_offset if segments else start,
        sum(segment.record_count for segment in segments),
        sum(segment.file_bytes for segment in segments),
        sum(_behind(segment, checkpoint) for segment in segments),
        tuple(aside_in(inspector, path, _others(names))),
    )


def _check_order(
    inspector: Inspector,
    path: str,
    segments: list[SegmentFacts],
    checkpoint: Checkpoint | None,
    start: int,
) -> None:
    """Finds segments that are not there, and such as tell of the same offsets."""
    for before, after in pairwise(segments):
        missing = after.base_offset - before.resume_offset
        if missing > 0:
            told = f"{missing} offsets before this segment are missing"
            inspector.find(Finding(after.path, 0, 0, told))
        elif missing < 0:
            told = f"{-missing} offsets of this segment are in the one before it, too"
            inspector.find(Finding(after.path, 0, 0, told))
    if checkpoint is None or any(s.base_offset == checkpoint.base_offset for s in segments):
        return
    if checkpoint.next_offset <= start:
        return  # All it tells of was deleted.
    missing_path = Segment(path, checkpoint.base_offset).path
    told = "this segment is missing; the checkpoint tells of it"
    inspector.find(Finding(missing_path, 0, checkpoint.position, told))


def _behind(segment: SegmentFacts, checkpoint: Checkpoint | None) -> int:
    """How many bytes of a segment's batches a checkpoint does not cover."""
    if checkpoint is None or segment.base_offset > checkpoint.base_offset:
        return segment.batch_bytes
    if segment.base_offset < checkpoint.base_offset:
        return 0
    return max(segment.batch_bytes - checkpoint.position, 0)


def _facts(checkpoint: Checkpoint) -> CheckpointFacts:
    return CheckpointFacts(
        checkpoint.base_offset,
        checkpoint.position,
        checkpoint.next_offset,
        checkpoint.log_start_offset,
        len(checkpoint.producers),
        checkpoint.epochs,
    )


def aside_in(inspector: Inspector, path: str, names: list[str]) -> Iterator[AsideFacts]:
    """The files of these names in a directory, and what they are there for."""
    for name in names:
        told = next((told for end, told in ASIDE.items() if name.endswith(end)), UNKNOWN)
        with going_on(f"{path}/{name}", inspector.find):
            yield AsideFacts(f"{path}/{name}", os.path.getsize(f"{path}/{name}"), told)


def _others(names: list[str]) -> list[str]:
    """Those names in a partition's directory that the log itself has no use for."""
    of_the_log = (LOG_SUFFIX, SEAL_SUFFIX, DAMAGE_SUFFIX)
    whole = (CHECKPOINT_NAME, START_NAME)
    return [name for name in names if name not in whole and not name.endswith(of_the_log)]
