"""A disk that one broker uses and that can be taken away from it, as `kill -9` would."""

import errno
import os

from riverlog.stores.disk import Buffer, Disk, File


class SeverableDisk:
    """A `Disk` in front of another one; after `sever`, every call but `close` raises `OSError`.

    What was written before stays on the disk behind, and nothing is written after.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._files: set[File] = set()
        self._is_severed = False

    def sever(self) -> None:
        """Lets nothing through any more."""
        self._is_severed = True

    def close_files(self) -> None:
        """Closes what was left open; for when nobody can be in the middle of a call any more."""
        for file in self._files:
            file.close()
        self._files.clear()

    def open(self, path: str) -> "SeverableFile":
        return self._handle(self.reached().open(path))

    def create(self, path: str) -> "SeverableFile":
        return self._handle(self.reached().create(path))

    def rename(self, source: str, target: str) -> None:
        self.reached().rename(source, target)

    def link(self, source: str, target: str) -> None:
        self.reached().link(source, target)

    def remove(self, path: str) -> None:
        self.reached().remove(path)

    def make_directory(self, path: str) -> None:
        self.reached().make_directory(path)

    def remove_directory(self, path: str) -> None:
        self.reached().remove_directory(path)

    def list(self, path: str) -> list[str]:
        return self.reached().list(path)

    def exists(self, path: str) -> bool:
        return self.reached().exists(path)

    def sync_directory(self, path: str) -> None:
        self.reached().sync_directory(path)

    def reached(self) -> Disk:
        """The disk behind; raises `OSError` once it was taken away."""
        if self._is_severed:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self._disk

    def forget(self, file: File) -> None:
        """Says that `file` was closed."""
        self._files.discard(file)

    def _handle(self, file: File) -> "SeverableFile":
        self._files.add(file)
        return SeverableFile(self, file)


class SeverableFile:
    """A handle that ends with its disk."""

    __slots__ = ("_disk", "_file")

    def __init__(self, disk: SeverableDisk, file: File) -> None:
        self._disk = disk
        self._file = file

    def read(self, position: int, size: int) -> bytes:
        self._disk.reached()
        return self._file.read(position, size)

    def write(self, position: int, *parts: Buffer) -> None:
        self._disk.reached()
        self._file.write(position, *parts)

    def write_out(self) -> None:
        self._file.write_out()

    def sync(self) -> None:
        self._disk.reached()
        self._file.sync()

    def truncate(self, size: int) -> None:
        self._disk.reached()
        self._file.truncate(size)

    def size(self) -> int:
        self._disk.reached()
        return self._file.size()

    def close(self) -> None:
        self._file.close()
        self._disk.forget(self._file)
