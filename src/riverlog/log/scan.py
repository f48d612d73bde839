"""Walking the batches of a segment file, and telling what is sound from what is not.

A batch is sound when its checksum is right and its offset and epoch, which the checksum does not
cover, fit what stands before it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from riverlog.records.batch import HEADER_SIZE, BatchHeader, check_batch, read_header
from riverlog.records.errors import BatchError
from riverlog.stores.disk import File

WINDOW_BYTES = 1 << 20

# Where a batch may begin: its epoch (three bytes of it are free) and its magic stand here.
_EPOCH_AND_MAGIC = re.compile(rb"(?=\x00[\s\S]{3}\x02)")
_EPOCH_AT = 12

OnBatch = Callable[[BatchHeader, int, memoryview], None]


@dataclass(slots=True)
class Scanned:
    """How a walk ended: the sound end of the batches, and what was found besides them.

    `holes` have sound batches after them, `torn` has none; both are (start, end) positions.
    """

    position: int
    next_offset: int
    epoch: int
    holes: list[tuple[int, int]] = field(default_factory=list)
    torn: tuple[int, int] | None = None


class _Window:
    """A stretch of the file in memory, moved along as the walk goes on."""

    def __init__(self, file: File, end: int) -> None:
        self._file = file
        self._end = end
        self._start = 0
        self._data = memoryview(b"")

    def at(self, position: int, size: int) -> memoryview:
        """The bytes from `position` on: at least `size`, fewer only before the end."""
        offset = position - self._start
        if offset < 0 or offset + size > len(self._data):
            wanted = min(max(size, WINDOW_BYTES), self._end - position)
            self._data = memoryview(self._file.read(position, wanted))
            self._start, offset = position, 0
        return self._data[offset:]


def scan(
    file: File, start: int, end: int, next_offset: int, epoch: int, epoch_max: int, tell: OnBatch
) -> Scanned:
    """Walks from `start` to `end`, telling of every sound batch: header, position, bytes.

    The first batch begins at `next_offset` and carries an epoch not below `epoch`; none carries
    one above `epoch_max`. Only behind a hole may offsets be missing.
    """
    window = _Window(file, end)
    found = Scanned(start, next_offset, epoch)
    while found.position < end:
        batch = _sound_batch(window, found, end, epoch_max)
        if batch is None:
            sound = _next_sound(window, found, end, epoch_max)
            if sound is None:
                found.torn = _torn(file, found.position, end)
                break
            found.holes.append((found.position, sound))
            found.position = sound
            batch = _sound_batch(window, found, end, epoch_max, may_skip=True)
            assert batch is not None, "a sound batch was just seen here"
        header, data = batch
        tell(header, found.position, data)
        found.position += header.size_bytes
        found.next_offset = header.next_offset
        found.epoch = header.leader_epoch
    return found


def _sound_batch(
    window: _Window, found: Scanned, end: int, epoch_max: int, *, may_skip: bool = False
) -> tuple[BatchHeader, memoryview] | None:
    try:
        data = window.at(found.position, HEADER_SIZE)
        size = read_header(data).size_bytes
        if found.position + size > end:
            return None
        data = window.at(found.position, size)[:size]
        header = check_batch(data)
    except BatchError:
        return None
    in_place = (
        header.base_offset >= found.next_offset
        if may_skip
        else header.base_offset == found.next_offset
    )
    if not in_place or not found.epoch <= header.leader_epoch <= epoch_max:
        return None
    return header, data


def _next_sound(window: _Window, found: Scanned, end: int, epoch_max: int) -> int | None:
    """Where the next sound batch begins after the unsound bytes at `found.position`."""
    position = found.position + 1
    while position + HEADER_SIZE <= end:
        data = bytes(window.at(position, min(WINDOW_BYTES, end - position))[:WINDOW_BYTES])
        for match in _EPOCH_AND_MAGIC.finditer(data):
            candidate = position + match.start() - _EPOCH_AT
            if candidate <= found.position:
                continue
            trial = Scanned(candidate, found.next_offset, found.epoch)
            if _sound_batch(window, trial, end, epoch_max, may_skip=True) is not None:
                return candidate
        # Windows overlap by a header, so that none is missed where two of them meet.
        position += max(len(data) - HEADER_SIZE, 1)
    return None


def _torn(file: File, position: int, end: int) -> tuple[int, int] | None:
    """The bytes from `position` on that are not just zeros filled ahead, if there are any."""
    last = position
    at = position
    while at < end:
        data = file.read(at, min(WINDOW_BYTES, end - at))
        if not data:
            break
        kept = len(data.rstrip(b"\0"))
        if kept:
            last = at + kept
        at += len(data)
    return (position, last) if last > position else None
