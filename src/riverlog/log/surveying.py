"""When a log that nobody has opened will have to let something go: from names and small files."""

from riverlog.log.checkpoint import CHECKPOINT_NAME, SEAL_SUFFIX, Checkpoint, Seal
from riverlog.log.retention import NEVER_MS, Held, due_by_time_ms, is_too_much
from riverlog.log.segment import Segment, kept_segments, segments_before
from riverlog.log.settings import LogSettings
from riverlog.log.start_offset import START_NAME, start_in
from riverlog.stores.disk import Disk
from riverlog.stores.small_file import DamagedFile, read_small_file

NOW_MS = -1


def due_ms(disk: Disk, directory: str, settings: LogSettings) -> int:
    """The last moment at which the log in `directory`, if it is left alone, may stay as it is.

    Before any moment if something has to go now, or if only opening the log can tell. Safe in a
    thread, for it changes nothing.
    """
    try:
        names = disk.list(directory)
    except FileNotFoundError:
        return NEVER_MS  # Nothing was written yet.
    except OSError:
        return NOW_MS
    try:
        return _due_ms(disk, directory, settings, names)
    except (OSError, DamagedFile, ValueError, KeyError, TypeError):
        return NOW_MS


def _due_ms(disk: Disk, directory: str, settings: LogSettings, names: list[str]) -> int:
    start = 0
    if START_NAME in names:
        start = start_in(read_small_file(disk, f"{directory}/{START_NAME}"))
    bases = kept_segments(names, start)
    if not bases:
        return NEVER_MS
    if segments_before(names, min(start, bases[0])):
        return NOW_MS
    # Sizes are read only where they count.
    wanted = bases if settings.deletes and settings.retention_bytes >= 0 else bases[:1]
    held = [_held(disk, directory, base, is_last=base == bases[-1]) for base in wanted]
    if held[0].size_bytes and held[0].next_offset <= start:
        return NOW_MS
    if not settings.deletes or not held[0].size_bytes:
        return NEVER_MS
    left_bytes = sum(segment.size_bytes for segment in held)
    if is_too_much(len(bases), left_bytes - held[0].size_bytes, settings):
        return NOW_MS
    return due_by_time_ms(held[0], settings)


def _held(disk: Disk, directory: str, base_offset: int, *, is_last: bool) -> Held:
    """A segment as its seal tells of it, or for the last one perhaps a checkpoint at its end."""
    segment = Segment(directory, base_offset)
    try:
        known: Seal | Checkpoint = Seal.from_bytes(
            read_small_file(disk, segment.beside(SEAL_SUFFIX))
        )
    except FileNotFoundError:
        known = Checkpoint.from_bytes(read_small_file(disk, f"{directory}/{CHECKPOINT_NAME}"))
        if not is_last or known.base_offset != base_offset:
            raise
    return Held(
        known.next_offset,
        known.size_bytes if isinstance(known, Seal) else known.position,
        known.max_timestamp_ms,
        known.last_append_ms,
    )
