"""The disk as the log sees it: the few system calls durability is made of, and nothing more.

Everything that must survive a power cut goes through this port, so that a simulated disk can
stand in for the real one and crash at any call. `OSError` is the one error it raises.
"""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Protocol, TypeVar

Buffer = bytes | bytearray | memoryview
T = TypeVar("T")

# Of Linux's fcntl.h: begins to write and waits for nothing.
_SYNC_FILE_RANGE_WRITE = 2

# No kernel gives so high a descriptor; -1 would make `os.fdatasync` raise ValueError instead.
_CLOSED = 2**31 - 1


class File(Protocol):
    """An open file. Positions are absolute: there is no cursor to share between threads."""

    def read(self, position: int, size: int) -> bytes:
        """Gives up to `size` bytes; fewer only at the end of the file."""

    def write(self, position: int, *parts: Buffer) -> None:
        """Hands all of `parts`, one after the other, to the operating system in one piece.

        Durable only after `sync`. After an error any part of it may have been written.
        """

    def write_out(self) -> None:
        """Has the disk begin with what was written, so that a `sync` soon after waits for less.

        It promises nothing and raises nothing; what goes wrong, the `sync` tells.
        """

    def sync(self) -> None:
        """Makes the bytes and the size durable. The file's name needs `Disk.sync_directory`.

        A failure is final: what was written since the last good sync may be gone although reads
        still show it, and a second `sync` on this file proves nothing.
        """

    def truncate(self, size: int) -> None:
        """Sets the size; durable only after `sync`."""

    def size(self) -> int:
        """The size as reads see it."""

    def close(self) -> None:
        """Closes the handle; says nothing about durability.

        A second close does nothing; every other call on a closed file raises `OSError`.
        """


class Disk(Protocol):
    """Names and files. A name made, moved or removed is durable only after `sync_directory`."""

    def open(self, path: str) -> File:
        """Opens an existing file for reading and writing, or raises `FileNotFoundError`."""

    def create(self, path: str) -> File:
        """Makes a new empty file, or raises `FileExistsError`."""

    def rename(self, source: str, target: str) -> None:
        """Moves a name over whatever stood there, all or nothing."""

    def link(self, source: str, target: str) -> None:
        """Gives a file a second name, or raises `FileExistsError` and changes nothing."""

    def remove(self, path: str) -> None:
        """Takes a file's name away; open handles go on reading."""

    def make_directory(self, path: str) -> None:
        """Makes one directory; no error when it is there already."""

    def remove_directory(self, path: str) -> None:
        """Takes an empty directory away."""

    def list(self, path: str) -> list[str]:
        """The names in a directory, sorted; raises `FileNotFoundError` when there is none."""

    def exists(self, path: str) -> bool:
        """Whether a file or directory has this name."""

    def sync_directory(self, path: str) -> None:
        """Makes every name made, moved or removed in this directory durable."""


@cache
def _range_sync() -> Callable[[int, int, int, int], int] | None:
    """The system call that begins to write out a part of a file, where there is one."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    call = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    return call


def _sync_data(descriptor: int) -> None:
    if sys.platform == "darwin":
        # There, fsync stops at the drive's cache, which a power cut empties; and there is no
        # fdatasync.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)


class OsFile:
    """A file of the operating system."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, position: int, size: int) -> bytes:
        data = os.pread(self._descriptor, size, position)
        if len(data) == size or not data:
            return data
        parts = [data]
        missing = size - len(data)
        while missing and (data := os.pread(self._descriptor, missing, position + size - missing)):
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def write(self, position: int, *parts: Buffer) -> None:
        written = os.pwritev(self._descriptor, parts, position)
        if written == sum(map(len, parts)):
            return
        rest = memoryview(b"".join(parts))[written:]
        while rest:
            position += written
            written = os.pwrite(self._descriptor, rest, position)
            rest = rest[written:]

    def write_out(self) -> None:
        if (begin := _range_sync()) is not None:
            begin(self._descriptor, 0, 0, _SYNC_FILE_RANGE_WRITE)

    def sync(self) -> None:
        _sync_data(self._descriptor)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def close(self) -> None:
        # The number will be given to the next file opened: forget it, or a late call through this
        # handle would reach that one.
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor != _CLOSED:
            os.close(descriptor)


class OsDisk:
    """The disk of this machine; paths are what the operating system understands."""

    def open(self, path: str) -> OsFile:
        return OsFile(os.open(path, os.O_RDWR | os.O_CLOEXEC))

    def create(self, path: str) -> OsFile:
        return OsFile(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    def link(self, source: str, target: str) -> None:
        os.link(source, target)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def make_directory(self, path: str) -> None:
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):
                raise

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def list(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def sync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def tried_twice(work: Callable[[], T]) -> T:
    """What the work gives that writes to files and syncs them; if it fails, once more.

    What an earlier process failed to keep is told to the first who asks, and only once: to who
    writes all of it again it means nothing.
    """
    try:
        return work()
    except OSError:
        return work()


@contextmanager
def opened(file: File) -> Iterator[File]:
    """Closes `file` at the end of the block, whatever happened in it."""
    try:
        yield file
    finally:
        file.close()
