"""A disk that keeps only what was synced, and can fail or stop at any call.

It reads POSIX strictly: `sync` makes a file's bytes durable but not its name, `sync_directory`
makes names durable but not bytes, and nothing else makes anything durable. What was not synced may
be there after a power cut or not, in any mixture. After `kill -9` all of it is there, still
un-synced: a later power cut may take it.

    disk = SimulatedDisk(Random(seed))
    disk.inject(Fault(Effect.CRASH_AFTER, at=17))
    try:
        work(disk)
    except PowerCut:
        pass
    check(disk.power_cut(Survival.TORN))
"""

import errno
from random import Random

from riverlog.stores.disk import Buffer
from riverlog.testing.disk_contents import SECTOR_BYTES, Content, Survival
from riverlog.testing.disk_faults import Effect, Fault, Machine, Op, PowerCut, failure
from riverlog.testing.disk_names import Directory, Names

__all__ = ["Effect", "Fault", "Op", "PowerCut", "SimulatedDisk", "SimulatedFile", "Survival"]


class SimulatedDisk:
    """A `Disk` in memory. Relative paths start at its root.

    A failed `sync` drops what it should have kept (`Content.fail_to_sync`), and so does a failed
    `truncate`, which writes back as xfs does. Of the latter the next `sync` tells: through handles
    that were open then, or the first one opened since. Of a file that nobody has open the disk may
    forget it. A failed `sync_directory` leaves the names as un-synced as before, as journaling
    file systems do.
    """

    def __init__(self, chance: Random, capacity_bytes: int | None = None) -> None:
        self.capacity_bytes = capacity_bytes
        self._chance = chance
        self._machine = Machine()
        self._names = Names()
        self._open_files: dict[SimulatedFile, Content] = {}

    @property
    def changes(self) -> int:
        """How many calls so far could have made a difference to a power cut after them."""
        return self._machine.changes

    @property
    def trace(self) -> list[tuple[Op, str]]:
        """The last thousand calls, oldest first."""
        return list(self._machine.trace)

    def inject(self, fault: Fault) -> None:
        """Lets `fault` count the calls from now on; of two that strike, the first one wins."""
        self._machine.inject(fault)

    def clear_faults(self) -> None:
        """Lets every call succeed from now on."""
        self._machine.clear_faults()

    def power_cut(self, survival: Survival) -> "SimulatedDisk":
        """The disk after the restart. This one and its handles are dead: calls raise `PowerCut`."""
        self._names.cut_power(survival, self._chance)
        return self.process_crash()

    def process_crash(self) -> "SimulatedDisk":
        """The disk for the next process: all that was written is there, and no more synced.

        This one and its handles are dead: calls raise `PowerCut`. Faults end with the process.
        """
        self._machine.is_on = False
        restarted = SimulatedDisk(self._chance, self.capacity_bytes)
        restarted._names = self._names
        return restarted

    def copy(self, chance: Random) -> "SimulatedDisk":
        """The same disk for another future, without handles or faults.

        Works after a `PowerCut` too: one run up to a crash can be followed by many restarts.
        """
        copy = SimulatedDisk(chance, self.capacity_bytes)
        copy._names = self._names.copy()
        return copy

    def free_bytes(self) -> int | None:
        """The room left, or None without a limit. Removed files count while they are open."""
        if self.capacity_bytes is None:
            return None
        files = {id(content): content for content in self._names.files()}
        files |= {id(content): content for content in self._open_files.values()}
        return self.capacity_bytes - sum(content.allocated_bytes for content in files.values())

    def open(self, path: str) -> "SimulatedFile":
        with self._machine.call(Op.OPEN, path):
            return self._handle(self._names.find_file(path), path)

    def create(self, path: str) -> "SimulatedFile":
        with self._machine.call(Op.CREATE, path):
            directory, name = self._new_name(path)
            content = Content()
            self._names.change((directory, name, content))
            return self._handle(content, path)

    def rename(self, source: str, target: str) -> None:
        with self._machine.call(Op.RENAME, source):
            self._names.move(source, target)

    def link(self, source: str, target: str) -> None:
        with self._machine.call(Op.LINK, target):
            node = self._names.find(source)
            directory, name = self._new_name(target)
            if isinstance(node, Directory):
                raise failure(errno.EPERM, source)
            self._names.change((directory, name, node))

    def remove(self, path: str) -> None:
        with self._machine.call(Op.REMOVE, path):
            self._names.find_file(path)
            self._names.change((*self._names.locate(path), None))

    def make_directory(self, path: str) -> None:
        with self._machine.call(Op.MAKE_DIRECTORY, path):
            if self.exists(path) and isinstance(self._names.find(path), Directory):
                return
            self._names.change((*self._new_name(path), Directory()))

    def remove_directory(self, path: str) -> None:
        with self._machine.call(Op.REMOVE_DIRECTORY, path):
            if self._names.find_directory(path).names:
                raise failure(errno.ENOTEMPTY, path)
            self._names.change((*self._names.locate(path), None))

    def list(self, path: str) -> list[str]:
        with self._machine.call(Op.LIST, path):
            return sorted(self._names.find_directory(path).names)

    def exists(self, path: str) -> bool:
        if not self._machine.is_on:
            raise PowerCut(f"exists {path} after the end")
        try:
            self._names.find(path)
        except OSError:
            return False
        return True

    def sync_directory(self, path: str) -> None:
        with self._machine.call(Op.SYNC_DIRECTORY, path):
            self._names.sync(self._names.find_directory(path))

    def _handle(self, content: Content, path: str) -> "SimulatedFile":
        file = SimulatedFile(self, self._machine, self._chance, content, path)
        self._open_files[file] = content
        return file

    def forget(self, file: "SimulatedFile") -> None:
        """Says that `file` is closed and holds no room any more."""
        content = self._open_files.pop(file, None)
        if content is None or content.past_failures == content.failures:
            return
        if content not in self._open_files.values() and self._chance.random() < 0.5:
            content.tell()

    def _new_name(self, path: str) -> tuple[Directory, str]:
        directory, name = self._names.locate(path)
        if name in directory.names:
            raise failure(errno.EEXIST, path)
        free = self.free_bytes()
        if free is not None and free < SECTOR_BYTES:
            raise failure(errno.ENOSPC, path)
        return directory, name


class SimulatedFile:
    """A handle of the process that opened it; `close` is the one call that always works."""

    def __init__(
        self, disk: SimulatedDisk, machine: Machine, chance: Random, content: Content, path: str
    ) -> None:
        self._disk = disk
        self._machine = machine
        self._chance = chance
        self._content = content
        self._path = path
        self._known_failures = content.past_failures
        self._is_open = True

    def read(self, position: int, size: int) -> bytes:
        effect = self._begin(Op.READ)
        data = self._content.read(position, size)
        self._machine.end(effect, Op.READ, self._path)
        return data

    def write(self, position: int, *parts: Buffer) -> None:
        effect = self._begin(Op.WRITE)
        data = b"".join(parts)
        if effect is not None and effect.is_error:
            data = data[: self._chance.randrange(len(data) or 1)]
        free = self._disk.free_bytes()
        fitting = len(data) if free is None else self._content.fitting(position, len(data), free)
        self._content.write(position, data[:fitting])
        self._machine.end(effect, Op.WRITE, self._path)
        if fitting < len(data):
            raise failure(errno.ENOSPC, self._path)

    def write_out(self) -> None:
        """Nothing is different after it: without a sync, any part may survive or not."""

    def sync(self) -> None:
        effect = self._begin(Op.SYNC)
        if effect is not None and effect.is_error:
            self._content.fail_to_sync(self._chance)
        else:
            self._content.sync()
        has_failed = self._known_failures < self._content.failures
        self._known_failures = self._content.failures
        self._content.tell()
        self._machine.end(effect, Op.SYNC, self._path)
        if has_failed:
            raise failure(errno.EIO, self._path)

    def truncate(self, size: int) -> None:
        effect = self._begin(Op.TRUNCATE)
        if effect is not None and effect.is_error:
            self._content.fail_to_sync(self._chance)
        else:
            self._content.truncate(size)
        self._machine.end(effect, Op.TRUNCATE, self._path)

    def size(self) -> int:
        if not self._machine.is_on:
            raise PowerCut(f"size {self._path} after the end")
        self._check_open()
        return self._content.size

    def close(self) -> None:
        self._is_open = False
        self._disk.forget(self)

    def _begin(self, op: Op) -> Effect | None:
        effect = self._machine.begin(op, self._path)
        self._check_open()
        return effect

    def _check_open(self) -> None:
        if not self._is_open:
            raise failure(errno.EBADF, self._path)
