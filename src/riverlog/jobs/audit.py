"""Segments checked straight from their files, as fast as the disk gives them.

`check` says only whether a segment is sound: it needs nothing but the path and what should be
there, so that any thread, process or machine that sees the file can do it. What exactly is wrong
is for a slower look.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, sizeof
from functools import partial
from typing import NamedTuple

from riverlog.config import MIB
from riverlog.kernel.library import Batch, Scan, library
from riverlog.log.epochs import NO_EPOCH
from riverlog.log.segment import hash_of
from riverlog.stores.disk import File, opened
from riverlog.stores.read_only_disk import ReadOnlyDisk

WINDOW_BYTES = 4 * MIB
_BATCHES_MAX = 4096
# Far beyond what any broker takes.
_BATCH_BYTES_MAX = 256 * MIB
_LENGTH_AT, _LENGTH_END, _EPOCH_END = 8, 12, 16

# Where `Batch` has its numbers, counted in words of eight bytes.
_WORDS = sizeof(Batch) // 8
_BASE_OFFSET, _LAST_DELTA, _POSITION = (
    getattr(Batch, name).offset // 8 for name in ("base_offset", "last_offset_delta", "position")
)


class Stretch(NamedTuple):
    """The batches of a segment file, as its seal, checkpoint or name tell of them.

    `hash_so_far` is what the seal says of all of these bytes; None if there is no seal.
    """

    path: str
    size_bytes: int
    base_offset: int
    next_offset: int
    hash_so_far: int | None


class Checked(NamedTuple):
    """Whether every byte of a stretch is as it should be; None if the file is gone by now."""

    stretch: Stretch
    is_sound: bool | None


def check_all(
    stretches: Iterable[Stretch], thread_count: int, on_bytes: Callable[[int], None]
) -> Iterator[Checked]:
    """Checks many at once, in their order; `on_bytes` is called by several threads.

    Raises `OSError` for a file that cannot be read.
    """
    with ThreadPoolExecutor(thread_count, "audit") as threads:
        yield from threads.map(partial(check, on_bytes=on_bytes), stretches)


def check(stretch: Stretch, on_bytes: Callable[[int], None]) -> Checked:
    """Reads a stretch and checks each batch, that offsets go on, that epochs rise, and the hash.

    Without the C kernel nothing is read, and nothing is sound: the slower look has to do it.
    """
    if library() is None:
        return Checked(stretch, is_sound=False)
    try:
        with opened(ReadOnlyDisk().open(stretch.path)) as file:
            return Checked(stretch, _Walk(stretch, file).is_sound(on_bytes))
    except FileNotFoundError:
        return Checked(stretch, is_sound=None)


class _Walk:
    """What is known of a stretch up to a position."""

    def __init__(self, stretch: Stretch, file: File) -> None:
        self._stretch = stretch
        self._file = file
        self._position = 0
        self._next_offset = stretch.base_offset
        self._epoch = NO_EPOCH
        self._hash = 0
        # A plain buffer beneath the structures: their numbers can be read by the thousand.
        self._memory = bytearray(sizeof(Batch) * _BATCHES_MAX)
        self._batches = (Batch * _BATCHES_MAX).from_buffer(self._memory)

    def is_sound(self, on_bytes: Callable[[int], None]) -> bool:
        end = self._stretch.size_bytes
        window = WINDOW_BYTES
        while self._position < end:
            size = min(window, end - self._position)
            data = self._file.read(self._position, size)
            taken = self._take(data) if len(data) == size else None
            if taken is None:
                return False
            on_bytes(taken)
            window = WINDOW_BYTES
            if not taken:
                window = _size_of_first(data)
                if not len(data) < window <= min(end - self._position, _BATCH_BYTES_MAX):
                    return False
        is_all = self._next_offset == self._stretch.next_offset
        return is_all and self._stretch.hash_so_far in (None, self._hash)

    def _take(self, data: bytes) -> int | None:
        """Checks the whole batches at the start; how many bytes they have, None if not sound."""
        scan = Scan(position=0)
        kernel = library()
        assert kernel is not None, "nobody comes here without it"
        while True:
            # The other threads run meanwhile.
            why = kernel.riverlog_scan(data, len(data), 1, self._batches, _BATCHES_MAX, byref(scan))
            if why or not self._goes_on(data, scan.batches):
                return None
            if scan.batches < _BATCHES_MAX:
                break
        taken: int = scan.position
        self._hash = hash_of(memoryview(data)[:taken], self._hash)
        self._position += taken
        return taken

    def _goes_on(self, data: bytes, count: int) -> bool:
        """Whether these batches follow those before them: no checksum covers that."""
        if not count:
            return True
        words = memoryview(self._memory).cast("q")[: count * _WORDS]
        bases = words[_BASE_OFFSET::_WORDS].tolist()
        deltas = words[_LAST_DELTA::_WORDS].tolist()
        positions = words[_POSITION::_WORDS].tolist()
        nexts = [base + delta + 1 for base, delta in zip(bases, deltas, strict=True)]
        epochs = [
            int.from_bytes(data[at + _LENGTH_END : at + _EPOCH_END], signed=True)
            for at in positions
        ]
        is_next = bases == [self._next_offset, *nexts[:-1]]
        is_rising = self._epoch <= epochs[0] and epochs == sorted(epochs)
        self._next_offset, self._epoch = nexts[-1], epochs[-1]
        return is_next and is_rising


def _size_of_first(data: bytes) -> int:
    """How large the first batch says to be."""
    return int.from_bytes(data[_LENGTH_AT:_LENGTH_END], signed=True) + _LENGTH_END
