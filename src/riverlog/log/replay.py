"""After a crash: what the journal kept is put where it belongs, before any partition is opened.

Every step can be repeated: entries are the very bytes that were appended at their place.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from riverlog.log.damage import Damage, Report
from riverlog.log.journal import DIRECTORY_NAME, FILE_SUFFIX
from riverlog.log.journal_frames import SALT_BYTES, decode
from riverlog.log.recovery import read_seal
from riverlog.log.segment import Segment
from riverlog.records.crc import Buffer
from riverlog.stores.disk import Disk, File, opened, tried_twice

# The directory of the partition with a key; None if there is no such partition any more.
DirectoryOf = Callable[[bytes], str | None]

# Bytes and where in a file they belong.
_Piece = tuple[int, Buffer]


class Replayed(NamedTuple):
    """How much was put back."""

    entries: int
    size_bytes: int


class Replay:
    """Puts the journal of the data directory `root` into the segments; `run` once.

    All of the journal is held in memory meanwhile, so that every segment is opened and synced
    once, however many there are.
    """

    def __init__(self, disk: Disk, root: str, directory_of: DirectoryOf, report: Report) -> None:
        self._disk = disk
        self._root = root
        self._directory = f"{root}/{DIRECTORY_NAME}"
        self._directory_of = directory_of
        self._report = report
        self._found: dict[tuple[bytes, int], list[_Piece]] = {}
        self._kept_whole: dict[str, str] = {}
        self._entries = self._size_bytes = 0

    def run(self) -> Replayed:
        """Everything durable in its segment, and the journal gone, when it returns."""
        names = self._names()
        for name in names:
            self._read_file(f"{self._directory}/{name}", bytes.fromhex(_salt_in(name)))
        for (key, segment_offset), pieces in self._found.items():
            directory = self._directory_of(key)
            if directory is not None and self._disk.exists(directory):
                self._put_back(Segment(directory, segment_offset), pieces)
        for name in names:
            path = f"{self._directory}/{name}"
            if path in self._kept_whole:
                self._disk.rename(path, self._kept_whole[path])
            else:
                self._disk.remove(path)
        if self._disk.exists(self._directory):
            # Also for files that were removed before the last end: they must not come back.
            self._disk.sync_directory(self._directory)
        return Replayed(self._entries, self._size_bytes)

    def _names(self) -> list[str]:
        """The journal's files in the order in which they were begun."""
        if not self._disk.exists(self._directory):
            return []
        names = self._disk.list(self._directory)
        return [name for name in names if name.endswith(FILE_SUFFIX) and _is_salt(_salt_in(name))]

    def _read_file(self, path: str, salt: bytes) -> None:
        with opened(self._disk.open(path)) as file:
            found = decode(salt, file.read(0, file.size()))
            for start, end in found.holes:
                reason = "a part of the journal that was durable does not match"
                self._keep_aside(file, path, start, end, "damaged", reason)
            if found.torn is not None:
                reason = "the last write was torn; it was not acknowledged as durable"
                self._keep_aside(file, path, *found.torn, "torn", reason)
        for frame in found.frames:
            for entry in frame.entries:
                pieces = self._found.setdefault((entry.key, entry.segment_offset), [])
                pieces.append((entry.position, entry.parts[0]))

    def _put_back(self, segment: Segment, pieces: list[_Piece]) -> None:
        """Writes what belongs to a segment; behind a seal that is the next segment.

        A sync had failed there: what had reached the file was sealed, and what only the journal
        kept was about to be written to a new one. A seal behind which offsets stay unused says
        that the rest was given up.
        """
        is_rescue = False
        while (seal := read_seal(self._disk, segment, self._report)) is not None:
            pieces = list(_behind(seal.size_bytes, pieces))
            is_last = seal.next_offset <= segment.base_offset
            if not pieces or is_last or seal.resume_offset > seal.next_offset:
                return
            segment, is_rescue = Segment(segment.directory, seal.next_offset), True
        if not self._disk.exists(segment.path):
            if not is_rescue:
                return  # It was removed since.
            self._disk.create(segment.path).close()
        tried_twice(lambda: self._write(segment.path, pieces))
        if is_rescue:
            self._disk.sync_directory(segment.directory)
        self._entries += len(pieces)
        self._size_bytes += sum(len(data) for _, data in pieces)

    def _write(self, path: str, pieces: Iterable[_Piece]) -> None:
        with opened(self._disk.open(path)) as file:
            for position, data in _joined(pieces):
                file.write(position, data)
            file.sync()

    def _keep_aside(
        self, file: File, path: str, start: int, end: int, kind: str, reason: str
    ) -> None:
        number = 0
        while self._disk.exists(aside := f"{path}.{start}-{number}.{kind}"):
            number += 1
        try:
            with opened(self._disk.create(aside)) as copy:
                copy.write(0, file.read(start, end - start))
                copy.sync()
        except OSError:
            # Without room for a copy the file itself is kept.
            with suppress(OSError):
                self._disk.remove(aside)
            aside = self._kept_whole.setdefault(path, aside)
        self._disk.sync_directory(self._directory)
        self._report(Damage(path, start, end - start, reason, aside))


def _behind(size_bytes: int, pieces: Iterable[_Piece]) -> Iterable[_Piece]:
    """What stands behind the first bytes of a file, at its places in a file that begins there."""
    for position, data in pieces:
        before = min(max(size_bytes - position, 0), len(data))
        if before < len(data):
            yield position + before - size_bytes, memoryview(data)[before:]


def _joined(pieces: Iterable[_Piece]) -> Iterable[_Piece]:
    """The same bytes in fewer pieces, where one begins at the end of the one before."""
    start, data = 0, bytearray()
    for position, more in pieces:
        if position != start + len(data):
            if data:
                yield start, data
            start, data = position, bytearray()
        data += more
    if data:
        yield start, data


def _salt_in(name: str) -> str:
    return name.removesuffix(FILE_SUFFIX).rpartition("-")[2]


def _is_salt(text: str) -> bool:
    return len(text) == 2 * SALT_BYTES and all(digit in "0123456789abcdef" for digit in text)
