"""An object store in a local directory: one file an object, durable when `create` returns.

A key's last segment is the name of its file. The segments before it are directories, their names
marked with a plus sign, which no key contains: so `a` and `a/b` can both be keys.

    +drafts/8f1c-1      being written; linked to its place when it is whole and synced
    topics+/42+/0000    the object `topics/42/0000`

What is seen is durable: a name that was linked but perhaps never synced, by a creation still under
way or by a process that was killed, is synced before anyone is told of it. Several processes may
share the directory; only between them is there a moment where one sees what another has not synced.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from itertools import count, islice
from typing import TypeVar, TypeVarTuple

from riverlog.runtime.chance import Chance
from riverlog.stores.disk import Disk, File, opened
from riverlog.stores.object_store import (
    LIST_LIMIT,
    KeyTaken,
    NoSuchKey,
    StoreError,
    check_key,
    check_prefix,
    is_segment,
)

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

_DIRECTORY_MARK = "+"
_DRAFTS = "+drafts"
_COPY_SIZE = 1 << 20

# With these the directory was not even opened, and its next sync is as good as the first.
_NEVER_SYNCED = (errno.ENOENT, errno.EMFILE, errno.ENFILE)


class DirectoryStore:
    """An `ObjectStore` on a `Disk`. Use `open`; all that blocks runs on the executor given there.

    When a directory cannot be synced, nobody can tell any more which of its names are durable:
    from then on it takes no writes until the store is opened anew. Reads go on.
    """

    def __init__(self, disk: Disk, root: str, executor: Executor, chance: Chance) -> None:
        self._disk = disk
        self._root = os.path.normpath(root)
        self._executor = executor
        # Distinct from those of other processes in the same directory, and of earlier ones.
        self._draft_prefix = f"{self._root}/{_DRAFTS}/{chance.random_bytes(8).hex()}-"
        self._draft_numbers = count(1)
        # Directories that we synced after all above them were: what they held then is durable.
        self._settled: set[str] = set()
        # Directories of which a sync has failed.
        self._doubtful: set[str] = set()
        # Keys that may have been linked without a sync after it.
        self._unsynced: set[str] = set()

    @classmethod
    async def open(
        cls, disk: Disk, root: str, executor: Executor, chance: Chance
    ) -> "DirectoryStore":
        """Makes the directory if need be (its parent exists), and clears what a crash left."""
        store = cls(disk, root, executor, chance)
        await store._run(store._open)
        return store

    async def create(self, key: str, data: bytes) -> None:
        check_key(key)
        await self._run(self._create, key, data)

    async def create_from(self, key: str, path: str) -> None:
        check_key(key)
        await self._run(self._create_from, key, path)

    async def read(self, key: str, start: int, size: int) -> bytes:
        check_key(key)
        assert start >= 0, "positions count from the beginning"
        assert size >= 0, "a size is not negative"
        return await self._run(self._read, key, start, size)

    async def size(self, key: str) -> int:
        check_key(key)
        return await self._run(self._size, key)

    async def list(
        self, prefix: str = "", after: str = "", limit: int = LIST_LIMIT
    ) -> Sequence[str]:
        check_prefix(prefix)
        return await self._run(self._list, prefix, after, limit)

    async def delete(self, key: str) -> None:
        check_key(key)
        await self._run(self._delete, key)

    async def _run(
        self, function: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> Result:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, function, *arguments)
        except OSError as error:
            raise StoreError(f"{self._root}: {error}") from error

    # Everything below blocks and runs in the executor's threads, several at a time.

    def _open(self) -> None:
        drafts = f"{self._root}/{_DRAFTS}"
        self._disk.make_directory(self._root)
        self._disk.make_directory(drafts)
        for directory in (self._root, os.path.dirname(self._root) or "."):
            self._disk.sync_directory(directory)
        self._settled.add(self._root)
        for name in self._disk.list(drafts):
            # Another process may be opening the same directory.
            with suppress(FileNotFoundError):
                self._disk.remove(f"{drafts}/{name}")

    def _create(self, key: str, data: bytes) -> None:
        self._create_of(key, iter((data,)))

    def _create_from(self, key: str, path: str) -> None:
        with opened(self._disk.open(path)) as file:
            file.sync()
            try:
                self._link(path, key)
            except OSError as error:
                # The file lies on another file system, or this one forbids a link to it.
                if error.errno not in (errno.EXDEV, errno.EPERM):
                    raise
                self._create_of(key, _pieces(file))

    def _create_of(self, key: str, pieces: Iterator[bytes]) -> None:
        draft = f"{self._draft_prefix}{next(self._draft_numbers)}"
        try:
            with opened(self._disk.create(draft)) as file:
                position = 0
                for piece in pieces:
                    file.write(position, piece)
                    position += len(piece)
                file.sync()
            self._link(draft, key)
        finally:
            # A draft that stays does no harm: the next `open` removes it.
            with suppress(OSError):
                self._disk.remove(draft)

    def _link(self, source: str, key: str) -> None:
        directory, name = self._place(key)
        self._refuse_doubtful(directory)
        self._make_directories(directory)
        self._unsynced.add(key)
        try:
            # Unlike rename, link fails when the target exists: it is our create-if-absent.
            self._disk.link(source, f"{directory}/{name}")
            is_taken = False
        except FileExistsError:
            is_taken = True
        # For the loser, too: the winner may not have come to its sync yet.
        self._sync(directory)
        self._settled.add(directory)
        self._unsynced.discard(key)
        if is_taken:
            raise KeyTaken(key)

    def _read(self, key: str, start: int, size: int) -> bytes:
        with self._opened_object(key) as file:
            # The system reserves memory for all that is asked for, so ask for what there is.
            return file.read(start, max(0, min(size, file.size() - start)))

    def _size(self, key: str) -> int:
        with self._opened_object(key) as file:
            return file.size()

    def _list(self, prefix: str, after: str, limit: int) -> Sequence[str]:
        keys = tuple(islice(self._walk(prefix, after), limit))
        for key in keys:
            self._make_durable(key)
        return keys

    def _delete(self, key: str) -> None:
        directory, name = self._place(key)
        self._refuse_doubtful(directory)
        with suppress(FileNotFoundError):
            self._disk.remove(f"{directory}/{name}")
        # Also when it was gone: an earlier try may have removed it and failed to sync.
        with suppress(FileNotFoundError):
            self._sync(directory)

    def _place(self, key: str) -> tuple[str, str]:
        *segments, name = key.split("/")
        return "/".join((self._root, *(segment + _DIRECTORY_MARK for segment in segments))), name

    @contextmanager
    def _opened_object(self, key: str) -> Iterator[File]:
        directory, name = self._place(key)
        try:
            file = self._disk.open(f"{directory}/{name}")
        except FileNotFoundError:
            raise NoSuchKey(key) from None
        with opened(file):
            self._make_durable(key)
            yield file

    def _make_durable(self, key: str) -> None:
        """For a key that was just seen: one that is linked from now on is not our concern."""
        directory, _ = self._place(key)
        # The directories above were synced before anything was linked here, whoever did it.
        if directory not in self._settled or key in self._unsynced:
            self._sync(directory)
            self._settled.add(directory)

    def _walk(self, prefix: str, after: str) -> Iterator[str]:
        directory, _ = self._place(prefix)
        try:
            names = self._disk.list(directory)
        except FileNotFoundError:
            return
        # Directories sort as their keys do, with the slash: `a-b` comes before `a/b`.
        for entry in sorted(_entry(name) for name in names if _is_ours(name)):
            path = prefix + entry
            if entry.endswith("/"):
                if path > after or after.startswith(path):
                    yield from self._walk(path, after)
            elif path > after:
                yield path

    def _make_directories(self, directory: str) -> None:
        if directory in self._settled:
            return
        path = self._root
        for name in directory.removeprefix(f"{self._root}/").split("/"):
            parent, path = path, f"{path}/{name}"
            # Also when it exists: whoever is making it may not have come to the sync yet.
            self._disk.make_directory(path)
            self._sync(parent)

    def _sync(self, directory: str) -> None:
        try:
            self._disk.sync_directory(directory)
        except OSError as error:
            if error.errno not in _NEVER_SYNCED:
                self._doubtful.add(directory)
            raise
        # A failure that another thread has just met may have hidden ours from us.
        self._refuse_doubtful(directory)

    def _refuse_doubtful(self, directory: str) -> None:
        if directory in self._doubtful:
            raise StoreError(f"{directory} failed to sync and takes no writes until a restart")


def _is_ours(name: str) -> bool:
    return is_segment(name.removesuffix(_DIRECTORY_MARK))


def _entry(name: str) -> str:
    return f"{name[:-1]}/" if name.endswith(_DIRECTORY_MARK) else name


def _pieces(file: File) -> Iterator[bytes]:
    position = 0
    while piece := file.read(position, _COPY_SIZE):
        yield piece
        position += len(piece)
