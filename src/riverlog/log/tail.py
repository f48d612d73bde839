"""Writing at the end of a log: the one segment that grows."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from riverlog.log.batches import Stretch
from riverlog.log.segment import Segment, hash_of
from riverlog.log.settings import LogSettings
from riverlog.records.batch import BatchHeader
from riverlog.stores.disk import Buffer, Disk, File
from riverlog.stores.handles import Handles

# A file that has its blocks already syncs quicker: only data goes to the disk, no metadata. Small
# batches get zeros written ahead of them, in proportion to the file, so that idle partitions
# stay small; large batches gain nothing from it.
FILL_BYTES_MAX = 1 << 20
FILLED_BATCH_BYTES_MAX = 16 * 1024
_BLOCK_BYTES = 4096
_ZEROS = bytes(FILL_BYTES_MAX + _BLOCK_BYTES)


class Mark(NamedTuple):
    """A place in the log that a sync can make durable."""

    segment: Segment
    size_bytes: int
    next_offset: int
    hash_so_far: int
    record_count: int


class Tail:
    """Appends to one segment file. An error leaves the segment as it was.

    From a write on the file stays open until `let_go`: once nobody has it open, the operating
    system may forget that it failed to keep something, and the next sync would succeed.
    """

    __slots__ = ("_file_bytes", "_handles", "_has_remains", "_is_held", "segment")

    def __init__(self, segment: Segment, handles: Handles, file_bytes: int) -> None:
        self.segment = segment
        self._handles = handles
        self._file_bytes = file_bytes
        self._has_remains = False
        self._is_held = False

    @property
    def is_empty(self) -> bool:
        return not self.segment.size_bytes

    def write(self, parts: Sequence[Buffer], header: BatchHeader) -> None:
        """Hands a batch, which has its offsets, to the operating system; raises `OSError`."""
        position = self.segment.size_bytes
        file = self._write(position, parts)
        self.segment.add(header, position)
        self._grew(file, header.size_bytes)

    def write_all(self, data: Buffer, stretch: Stretch) -> None:
        """The same for batches that follow one another."""
        position = self.segment.size_bytes
        file = self._write(position, (data,))
        self.segment.add_all(stretch, position)
        self._grew(file, stretch.batch_bytes_max)

    def _write(self, position: int, parts: Sequence[Buffer]) -> File:
        segment = self.segment
        file = self._handles.use(segment.path)
        if self._has_remains:
            self._cut_remains()
        try:
            file.write(position, *parts)
        except OSError:
            self._has_remains = True
            self._file_bytes = position
            with suppress(OSError):
                self._cut_remains()
            raise
        if not self._is_held:
            self._handles.lend(segment.path)
            self._is_held = True
        for part in parts:
            segment.hash_so_far = hash_of(part, segment.hash_so_far)
        return file

    def _grew(self, file: File, batch_bytes: int) -> None:
        if self.segment.size_bytes > self._file_bytes:
            self._file_bytes = self.segment.size_bytes
            if batch_bytes <= FILLED_BATCH_BYTES_MAX:
                self._fill(file)

    def _cut_remains(self) -> None:
        """Takes away the part of a refused batch that was written: others may need the room, and
        a shorter batch written over it would leave its end behind."""
        self._handles.use(self.segment.path).truncate(self.segment.size_bytes)
        self._has_remains = False

    def _fill(self, file: File) -> None:
        """Writes zeros ahead; where they do not fit, the room is left for records."""
        end = self._file_bytes
        target = -(-(end + min(end, FILL_BYTES_MAX)) // _BLOCK_BYTES) * _BLOCK_BYTES
        try:
            file.write(end, _ZEROS[: target - end])
        except OSError:
            with suppress(OSError):
                file.truncate(end)
        else:
            self._file_bytes = target

    def write_out(self) -> None:
        """Has the disk begin with what the next sync will wait for."""
        self._handles.use(self.segment.path).write_out()

    def let_go(self) -> None:
        """All that was written is durable, or given up."""
        if self._is_held:
            self._handles.give_back(self.segment.path)
            self._is_held = False

    def mark(self) -> Mark:
        """Everything written so far."""
        return mark_of(self.segment)

    def trim(self) -> None:
        """Gives back the zeros filled ahead; raises `OSError`."""
        if self._file_bytes > self.segment.size_bytes:
            self._handles.use(self.segment.path).truncate(self.segment.size_bytes)
            self._file_bytes = self.segment.size_bytes


def new_tail(
    disk: Disk, handles: Handles, directories: Sequence[str], base_offset: int, is_first: bool
) -> Tail:
    """Begins a segment in the last of `directories`, which the first one makes."""
    if is_first:
        for directory in directories:
            disk.make_directory(directory)
    segment = Segment(directories[-1], base_offset)
    handles.keep(segment.path, disk.create(segment.path))
    return Tail(segment, handles, 0)


def mark_of(segment: Segment) -> Mark:
    """The end of a segment as it is now."""
    return Mark(
        segment,
        segment.size_bytes,
        segment.next_offset,
        segment.hash_so_far,
        segment.record_count,
    )


def is_full(segment: Segment, more_bytes: int, now_ms: int, settings: LogSettings) -> bool:
    """Whether a batch of `more_bytes` should go into a new segment: for size, count or age."""
    if segment.size_bytes == 0:
        return False
    return (
        segment.size_bytes + more_bytes > settings.segment_bytes
        or segment.record_count >= settings.segment_records
        or 0 <= segment.first_append_ms <= now_ms - settings.segment_ms
    )
