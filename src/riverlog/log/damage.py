"""Damage: what was found, where its bytes were put aside, and what is reported of it."""

import json
from collections.abc import Callable
from typing import NamedTuple

from riverlog.log.segment import Hole, Segment
from riverlog.stores.disk import Disk, opened
from riverlog.stores.small_file import DamagedFile, read_small_file, set_aside, write_small_file

DAMAGE_SUFFIX = ".damage"
_COPY_BYTES = 1 << 20


class Damage(NamedTuple):
    """Bytes that are not what was written there. `kept_in` is where they can be looked at."""

    path: str
    position: int
    size_bytes: int
    reason: str
    kept_in: str


Report = Callable[[Damage], None]


def keep_aside(disk: Disk, segment: Segment, start: int, end: int, kind: str) -> str:
    """Copies a stretch of a segment file into a new file beside it, durably; gives its path."""
    number = 0
    while disk.exists(aside := segment.beside(f".{start}-{number}.{kind}")):
        number += 1
    draft = aside + ".draft"
    if disk.exists(draft):
        disk.remove(draft)
    with opened(disk.open(segment.path)) as source, opened(disk.create(draft)) as target:
        for position in range(start, end, _COPY_BYTES):
            data = source.read(position, min(_COPY_BYTES, end - position))
            target.write(position - start, data)
        target.sync()
    disk.rename(draft, aside)
    disk.sync_directory(segment.directory)
    return aside


def note_holes(disk: Disk, segment: Segment, holes: list[Hole], report: Report) -> None:
    """Remembers stretches found damaged, keeps their bytes aside and reports the new ones."""
    new = [hole for hole in holes if not _is_within(hole, segment.holes)]
    if not new:
        return
    for start, end in new:
        kept_in = keep_aside(disk, segment, start, end, "damaged")
        report(Damage(segment.path, start, end - start, "batches do not match", kept_in))
    _write_holes(disk, segment, _merged([*segment.holes, *new]))


def forget_holes(disk: Disk, segment: Segment, position: int) -> None:
    """Forgets what was found damaged behind `position`: the file ends there from now on."""
    before = [hole for hole in segment.holes if hole[0] < position]
    if before != segment.holes:
        _write_holes(disk, segment, before)


def read_holes(disk: Disk, segment: Segment, report: Report) -> list[Hole]:
    """The stretches found damaged in earlier lives of the broker."""
    content = read_checked(disk, segment.beside(DAMAGE_SUFFIX), report)
    return [] if content is None else [(start, end) for start, end in json.loads(content)]


def read_checked(disk: Disk, path: str, report: Report) -> bytes | None:
    """A small file's content; None when there is none, or it was damaged and put aside."""
    try:
        return read_small_file(disk, path)
    except FileNotFoundError:
        return None
    except DamagedFile as damage:
        kept_in = set_aside(disk, path)
        report(Damage(path, 0, 0, str(damage), kept_in))
        return None


def _write_holes(disk: Disk, segment: Segment, holes: list[Hole]) -> None:
    segment.holes = holes
    write_small_file(disk, segment.beside(DAMAGE_SUFFIX), json.dumps(holes).encode())


def _is_within(hole: Hole, holes: list[Hole]) -> bool:
    return any(start <= hole[0] and hole[1] <= end for start, end in holes)


def _merged(holes: list[Hole]) -> list[Hole]:
    """The same stretches in order, without overlaps."""
    merged: list[Hole] = []
    for start, end in sorted(holes):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
