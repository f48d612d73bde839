"""The redo journal: one sync makes the small batches of many partitions durable at once.

A batch is in its segment's file as soon as it is appended; the journal only saves that file from
being synced in every round. What stands in the journal alone is synced to the segments in the
background whenever a journal file is full, and then the file is removed. Only recovery, and the
rescue of what a segment failed to keep, ever read it. docs/decisions/0002 has the reasons.
"""

import asyncio
import errno
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from riverlog.log.journal_frames import SALT_BYTES, Entry, decode, encode, frame_bytes_max
from riverlog.runtime.chance import Chance
from riverlog.stores.disk import Disk, File, opened
from riverlog.stores.syncer import Job, Outcome, Syncer, attempt

DIRECTORY_NAME = "journal"
FILE_SUFFIX = ".journal"
_NUMBER_DIGITS = 10
_ZEROS = bytes(1 << 20)

# How many partitions are synced in one go: while they are, they cannot be synced for clients.
SYNCED_AT_ONCE = 16
# After the disk refused a new file, so many rounds pass before it is asked again.
ROUNDS_BEFORE_RETRY = 500


class JournalLimits(NamedTuple):
    """How much a journal holds.

    `files_max` bounds what recovery has to read, `behind_max` the partitions whose files must be
    kept open. Beyond either, partitions sync their own files.
    """

    file_bytes: int = 8 << 20
    files_max: int = 4
    behind_max: int = 4096


class Backed(Protocol):
    """A partition that has batches whose only durable copy is in the journal."""

    def begin_sync(self) -> tuple[Job, Callable[[Outcome], None]]:
        """What makes its own file durable, and whom to tell how that ended."""

    def mend(self) -> None:
        """Goes on after a failed sync, if there was one, with what the journal kept.

        Raises `OSError`.
        """


class JournalFile(NamedTuple):
    """One file: its place in the order, and what its frames begin with."""

    number: int
    salt: bytes

    @property
    def name(self) -> str:
        return f"{self.number:0{_NUMBER_DIGITS}d}-{self.salt.hex()}{FILE_SUFFIX}"


class Journal:
    """The journal of one broker; belongs to one event loop.

    `number` is that of the file begun last; whatever is written from now on stands there or in
    a later one.
    """

    def __init__(
        self, disk: Disk, syncer: Syncer, chance: Chance, root: str, limits: JournalLimits
    ) -> None:
        self._disk = disk
        self._syncer = syncer
        self._chance = chance
        self._root = root
        self._directory = f"{root}/{DIRECTORY_NAME}"
        self._limits = limits
        self.number = 0
        self._present: tuple[JournalFile, File] | None = None
        self._position = self._frames = 0
        self._spare: tuple[JournalFile, File] | None = None
        self._is_preparing = False
        self._rounds_to_wait = 0
        self._old: list[JournalFile] = []
        self._behind: dict[int, tuple[Backed, int]] = {}
        self._is_catching_up = False
        self._idle: asyncio.Future[None] | None = None

    def accepts(self, partition: Backed) -> bool:
        """Whether one more partition may lean on the journal; those that do already may."""
        return id(partition) in self._behind or len(self._behind) < self._limits.behind_max

    def write(self, entries: Sequence[Entry]) -> Job | None:
        """Hands the entries to the operating system; the job makes them durable.

        Only one such job may be under way. None when there is no room or no file: the partitions
        have to sync their own.
        """
        size = frame_bytes_max(entries)
        if self._present is None or self._position + size > self._limits.file_bytes:
            self._begin_next_file()
        if self._present is None or size > self._limits.file_bytes:
            return None
        described, file = self._present
        frame = encode(described.salt, self._frames, entries)
        try:
            file.write(self._position, frame)
        except OSError:
            self.give_up_file()
            return None
        self._position += len(frame)
        self._frames += 1
        if self._position * 2 > self._limits.file_bytes:
            self._prepare()
        return file.sync

    def give_up_file(self) -> None:
        """After an error nothing more is written to the present file: its sync proves nothing."""
        self._retire_file()
        self._catch_up()

    def leans(self, partition: Backed, number: int) -> None:
        """Tells that the partition has durable batches here alone, from file `number` on."""
        self._behind[id(partition)] = partition, number
        if len(self._behind) >= self._limits.behind_max:
            self._catch_up()

    def still_leans(self, partition: Backed, number: int) -> None:
        """Tells that the partition's own file has kept everything before file `number`."""
        if id(partition) in self._behind:
            self._behind[id(partition)] = partition, number

    def stands(self, partition: Backed) -> None:
        """Tells that the partition needs the journal no more."""
        self._behind.pop(id(partition), None)

    def rescued(self, key: bytes, segment_offset: int, start: int, end: int) -> bytes:
        """The bytes of a segment that the journal kept; raises `OSError` if any is missing."""
        kept = bytearray()
        for described in [*self._old, *([self._present[0]] if self._present else [])]:
            for frame in decode(described.salt, self._content(described)).frames:
                for entry in frame.entries:
                    place = start + len(kept) - entry.position
                    is_of_it = (entry.key, entry.segment_offset) == (key, segment_offset)
                    if is_of_it and place >= 0:
                        kept += entry.parts[0][place : end - entry.position]
        if len(kept) != end - start:
            raise OSError(errno.EIO, "the journal does not hold all of it", self._directory)
        return bytes(kept)

    @property
    def is_idle(self) -> bool:
        """Whether no background work is under way."""
        return not (self._is_catching_up or self._is_preparing)

    async def idle(self) -> None:
        """Returns when no background work is under way."""
        while not self.is_idle:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle

    def close(self) -> None:
        """Removes all files if no partition needs them any more; raises `OSError`."""
        for described, file in filter(None, (self._present, self._spare)):
            file.close()
            self._old.append(described)
        self._present = self._spare = None
        if not self._behind and self._old:
            self._remove(self._old)

    # Files.

    def _retire_file(self) -> None:
        if self._present is not None:
            described, file = self._present
            file.close()
            self._old.append(described)
            self._present = None

    def _begin_next_file(self) -> None:
        self._retire_file()
        if self._spare is not None:
            self._present, self._spare = self._spare, None
            self.number = self._present[0].number
            self._position = self._frames = 0
        else:
            self._prepare()
        self._catch_up()

    def _prepare(self) -> None:
        """Makes the next file, filled with zeros and durable, out of the loop's way."""
        if self._rounds_to_wait:
            self._rounds_to_wait -= 1
            return
        if self._is_preparing or self._spare or len(self._old) + 1 >= self._limits.files_max:
            return
        self._is_preparing = True
        described = JournalFile(self.number + 1, self._chance.random_bytes(SALT_BYTES))
        made: list[File] = []

        def ended(outcomes: list[Outcome]) -> None:
            self._is_preparing = False
            if outcomes[0] is None:
                self._spare = described, made[0]
            else:
                self._rounds_to_wait = ROUNDS_BEFORE_RETRY
            self._tell_idle()

        self._syncer.run_apart(lambda: made.append(self._make(described)), ended)

    def _make(self, described: JournalFile) -> File:
        """A new file of zeros, itself and its name durable; raises `OSError` and leaves none."""
        disk, path = self._disk, f"{self._directory}/{described.name}"
        disk.make_directory(self._directory)
        file = disk.create(path)
        try:
            for position in range(0, self._limits.file_bytes, len(_ZEROS)):
                size = min(len(_ZEROS), self._limits.file_bytes - position)
                file.write(position, _ZEROS[:size])
            file.sync()
            disk.sync_directory(self._directory)
            disk.sync_directory(self._root)
        except OSError:
            file.close()
            with suppress(OSError):
                disk.remove(path)
            raise
        return file

    def _content(self, described: JournalFile) -> bytes:
        """What a file holds: nothing if it was removed, as only those are that nobody needs."""
        try:
            file = self._disk.open(f"{self._directory}/{described.name}")
        except FileNotFoundError:
            return b""
        with opened(file):
            return file.read(0, file.size())

    def _remove(self, files: Sequence[JournalFile]) -> None:
        for described in files:
            with suppress(FileNotFoundError):
                self._disk.remove(f"{self._directory}/{described.name}")
        self._disk.sync_directory(self._directory)

    # Catching up.

    def _catch_up(self) -> None:
        """Has every partition that leans on the journal sync its own file; then trims."""
        if not self._is_catching_up and (self._old or self._behind):
            self._is_catching_up = True
            self._sync_some([partition for partition, _ in self._behind.values()])

    def _sync_some(self, left: list[Backed]) -> None:
        some, rest = left[:SYNCED_AT_ONCE], left[SYNCED_AT_ONCE:]
        some = [partition for partition in some if id(partition) in self._behind]
        if not some:
            if rest:
                self._sync_some(rest)
            else:
                self._trim()
            return
        begun = [partition.begin_sync() for partition in some]
        results: list[Outcome] = []

        def ended(_outcomes: list[Outcome]) -> None:
            for (_, tell), outcome in zip(begun, results, strict=True):
                tell(outcome)
            for partition in some:
                # Its sync may have failed long ago, and nobody have written to it since.
                with suppress(OSError):
                    partition.mend()
            self._sync_some(rest)

        self._syncer.run_apart(lambda: results.extend(attempt(job) for job, _ in begun), ended)

    def _trim(self) -> None:
        """Removes the files that no partition needs any more."""
        needed = min((number for _, number in self._behind.values()), default=None)
        gone = [file for file in self._old if needed is None or file.number < needed]
        if not gone:
            self._is_catching_up = False
            self._tell_idle()
            return

        def ended(outcomes: list[Outcome]) -> None:
            if outcomes[0] is None:
                self._old = [file for file in self._old if file not in gone]
            self._is_catching_up = False
            self._tell_idle()

        self._syncer.run_apart(lambda: self._remove(gone), ended)

    def _tell_idle(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)
