"""After a crash: what the journal kept is put where it belongs, before any partition is opened.

Every step can be repeated: entries are the very bytes that were appended at their place.
"""

from collections.abc import Callable
from typing import NamedTuple

from riverlog.log.damage import Damage, Report
from riverlog.log.journal import DIRECTORY_NAME, FILE_SUFFIX
from riverlog.log.journal_frames import SALT_BYTES, Entry, decode
from riverlog.log.recovery import read_seal
from riverlog.log.segment import Segment
from riverlog.stores.disk import Disk, File, opened

# The directory of the partition with a key; None if there is no such partition any more.
DirectoryOf = Callable[[bytes], str | None]

_OPEN_MAX = 64


class Replayed(NamedTuple):
    """How much was put back."""

    entries: int
    size_bytes: int


class Replay:
    """Puts the journal of the data directory `root` into the segments; `run` once."""

    def __init__(self, disk: Disk, root: str, directory_of: DirectoryOf, report: Report) -> None:
        self._disk = disk
        self._root = root
        self._directory = f"{root}/{DIRECTORY_NAME}"
        self._directory_of = directory_of
        self._report = report
        self._files: dict[str, File] = {}
        self._new_in: set[str] = set()
        self._entries = self._size_bytes = 0

    def run(self) -> Replayed:
        """Everything durable in its segment, and the journal gone, when it returns."""
        names = self._names()
        for name in names:
            self._replay_file(f"{self._directory}/{name}", bytes.fromhex(_salt_in(name)))
        self._sync_files()
        for directory in sorted(self._new_in):
            self._disk.sync_directory(directory)
        for name in names:
            self._disk.remove(f"{self._directory}/{name}")
        if names:
            self._disk.sync_directory(self._directory)
        return Replayed(self._entries, self._size_bytes)

    def _names(self) -> list[str]:
        """The journal's files in the order in which they were begun."""
        if not self._disk.exists(self._directory):
            return []
        names = self._disk.list(self._directory)
        return [name for name in names if name.endswith(FILE_SUFFIX) and _is_salt(_salt_in(name))]

    def _replay_file(self, path: str, salt: bytes) -> None:
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
                directory = self._directory_of(entry.key)
                if directory is not None and self._disk.exists(directory):
                    self._put_back(directory, entry)

    def _put_back(self, directory: str, entry: Entry) -> None:
        """Writes an entry where it belongs; behind a seal that is the next segment.

        A sync had failed there: what had reached the file was sealed, and what only the journal
        kept was about to be written to a new one. A seal behind which offsets stay unused says
        that the rest was given up.
        """
        data = memoryview(entry.parts[0])
        segment, position = Segment(directory, entry.segment_offset), entry.position
        is_rescue = False
        while (seal := read_seal(self._disk, segment, self._report)) is not None:
            behind = max(seal.size_bytes - position, 0)
            data, position = data[behind:], position + behind - seal.size_bytes
            if not data or seal.resume_offset > seal.next_offset:
                return
            segment, is_rescue = Segment(directory, seal.next_offset), True
        file = self._opened(segment, may_make=is_rescue)
        if file is not None:
            file.write(position, data)
            self._entries += 1
            self._size_bytes += len(data)

    def _opened(self, segment: Segment, *, may_make: bool) -> File | None:
        """The segment's file; None if there is none, as when it was removed since."""
        file = self._files.get(segment.path)
        if file is not None:
            return file
        if not self._disk.exists(segment.path):
            if not may_make:
                return None
            self._disk.create(segment.path).close()
            self._new_in.add(segment.directory)
        if len(self._files) >= _OPEN_MAX:
            self._sync_files()
        file = self._files[segment.path] = self._disk.open(segment.path)
        return file

    def _sync_files(self) -> None:
        for file in self._files.values():
            with opened(file):
                file.sync()
        self._files.clear()

    def _keep_aside(
        self, file: File, path: str, start: int, end: int, kind: str, reason: str
    ) -> None:
        number = 0
        while self._disk.exists(aside := f"{path}.{start}-{number}.{kind}"):
            number += 1
        with opened(self._disk.create(aside)) as copy:
            copy.write(0, file.read(start, end - start))
            copy.sync()
        self._disk.sync_directory(self._directory)
        self._report(Damage(path, start, end - start, reason, aside))


def _salt_in(name: str) -> str:
    return name.removesuffix(FILE_SUFFIX).rpartition("-")[2]


def _is_salt(text: str) -> bool:
    return len(text) == 2 * SALT_BYTES and all(digit in "0123456789abcdef" for digit in text)
