"""Walking the batches of a segment file, and telling what is sound from what is not.

A batch is sound when its checksum is right and its offset and epoch, which the checksum does not
cover, fit what stands around it.
"""

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from riverlog.log.epochs import Epochs
from riverlog.records.batch import HEADER_SIZE, BatchHeader, check_batch, read_header
from riverlog.records.errors import BatchError
from riverlog.stores.disk import File

WINDOW_BYTES = 1 << 20

# Where a batch may begin: its epoch (three bytes of it are free) and its magic stand here.
_EPOCH_AND_MAGIC = re.compile(rb"(?=\x00[\s\S]{3}\x02)")
_EPOCH_AT = 12

OnBatch = Callable[[BatchHeader, int, memoryview], None]

# Whether a batch may have its epoch, and its offsets, given the epoch of the batch before it.
Fits = Callable[[BatchHeader, int], bool]


def rising_to(epoch_max: int) -> Fits:
    """Epochs that never fall and end at `epoch_max`: all one knows of what was written last."""
    return lambda header, before: before <= header.leader_epoch <= epoch_max


def known_from(epochs: Epochs, next_offset: int) -> Fits:
    """Exactly these epochs, up to an offset: for what was known before."""
    return lambda header, _: (
        header.leader_epoch == epochs.at(header.base_offset) and header.next_offset <= next_offset
    )


class Scanned:
    """How a walk ended: the sound end of the batches, and what was found besides them.

    `holes` have sound batches after them, `torn` has none; both are (start, end) positions.
    """

    __slots__ = ("epoch", "holes", "next_offset", "position", "torn")

    def __init__(self, position: int, next_offset: int, epoch: int) -> None:
        self.position = position
        self.next_offset = next_offset
        self.epoch = epoch
        self.holes: list[tuple[int, int]] = []
        self.torn: tuple[int, int] | None = None


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
    file: File,
    start: int,
    end: int,
    next_offset: int,
    epoch: int,
    fits: Fits,
    tell: OnBatch,
    anchors: Collection[int] = (),
) -> Scanned:
    """Walks from `start` to `end`, telling of every sound batch: header, position, bytes.

    The first batch begins at `next_offset` and follows one of `epoch`. Only behind a hole may
    offsets be missing. At `anchors` a sound batch is known to begin.
    """
    walk = _Walk(_Window(file, end), end, fits, anchors)
    found = Scanned(start, next_offset, epoch)
    while found.position < end:
        place = _Place(found.position, found.next_offset, found.epoch)
        batch = walk.sound_batch(place)
        if batch is None or walk.is_belied(place, batch[0]):
            sound = walk.next_sound(place)
            if sound is None:
                found.torn = _torn(file, found.position, end)
                break
            found.holes.append((found.position, sound))
            found.position = sound
            batch = walk.sound_batch(place._replace(position=sound), may_skip=True)
            assert batch is not None, "a sound batch was just seen here"
        header, data = batch
        tell(header, found.position, data)
        found.position += header.size_bytes
        found.next_offset = header.next_offset
        found.epoch = header.leader_epoch
    return found


class _Place(NamedTuple):
    """Where a batch should begin, at which offset, and the epoch of the one before it."""

    position: int
    next_offset: int
    epoch: int


class _Walk(NamedTuple):
    """What decides whether there is a sound batch at some place."""

    window: _Window
    end: int
    fits: Fits
    anchors: Collection[int]

    def sound_batch(
        self, place: _Place, *, may_skip: bool = False
    ) -> tuple[BatchHeader, memoryview] | None:
        """The batch at a place, if it is sound; it `may_skip` offsets."""
        try:
            data = self.window.at(place.position, HEADER_SIZE)
            size = read_header(data).size_bytes
            if place.position + size > self.end:
                return None
            data = self.window.at(place.position, size)[:size]
            header = check_batch(data)
        except BatchError:
            return None
        skipped = header.base_offset - place.next_offset
        is_in_place = skipped == 0 or (may_skip and skipped > 0)
        return (header, data) if is_in_place and self.fits(header, place.epoch) else None

    def is_belied(self, place: _Place, header: BatchHeader) -> bool:
        """Whether the next two batches have not got the epoch that begins here: it was changed.

        Where only the first of the two has not, it is that one which was changed.
        """
        is_belied = False
        if header.leader_epoch == place.epoch:
            return is_belied
        for _ in range(2):
            position = place.position + header.size_bytes
            place = place._replace(position=position, next_offset=header.next_offset)
            batch = self.sound_batch(place)
            if batch is None:
                break
            if batch[0].leader_epoch >= header.leader_epoch:
                return False
            is_belied = True
            header = batch[0]._replace(leader_epoch=header.leader_epoch)
        return is_belied

    def next_sound(self, place: _Place) -> int | None:
        """Where the next sound batch begins after the unsound one at a place.

        Records can hold whole batches. So where the unsound batch still says where it ends, one
        that begins inside of it counts only if it goes on exactly there.
        """
        claim = self._claim(place)
        position = place.position + 1
        while position + HEADER_SIZE <= self.end:
            size = min(WINDOW_BYTES, self.end - position)
            data = bytes(self.window.at(position, size)[:size])
            for match in _EPOCH_AND_MAGIC.finditer(data):
                candidate = position + match.start() - _EPOCH_AT
                if candidate > place.position and self._goes_on(candidate, place, claim):
                    return candidate
            # Windows overlap by a header, so that none is missed where two of them meet.
            position += max(len(data) - HEADER_SIZE, 1)
        return None

    def _goes_on(self, candidate: int, place: _Place, claim: BatchHeader | None) -> bool:
        """Whether a sound batch begins at `candidate`, after an unsound one at `place`."""
        is_inside = claim is not None and candidate < place.position + claim.size_bytes
        if claim is None or not is_inside or candidate in self.anchors:
            return self.sound_batch(place._replace(position=candidate), may_skip=True) is not None
        place = place._replace(position=candidate, next_offset=claim.next_offset)
        return self.sound_batch(place) is not None

    def _claim(self, place: _Place) -> BatchHeader | None:
        """What an unsound batch says of itself, if it is the one that should be here."""
        try:
            header = read_header(self.window.at(place.position, HEADER_SIZE))
        except BatchError:
            return None
        return header if header.base_offset == place.next_offset else None


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
