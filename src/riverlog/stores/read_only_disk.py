"""The disk of this machine, to look at only: for tools that work beside a running broker."""

import errno
import os
from typing import NoReturn

from riverlog.stores.disk import OsFile


class ReadOnlyDisk:
    """A `Disk` whose files are opened for reading; whatever would change one raises `OSError`."""

    def open(self, path: str) -> OsFile:
        # Through a handle for reading, the system itself refuses to write. A pipe of this name
        # must not make us wait for somebody to write to it.
        return OsFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))

    def list(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def create(self, path: str) -> NoReturn:
        _refuse(path)

    def rename(self, source: str, target: str) -> NoReturn:
        _refuse(target)

    def link(self, source: str, target: str) -> NoReturn:
        _refuse(target)

    def remove(self, path: str) -> NoReturn:
        _refuse(path)

    def make_directory(self, path: str) -> NoReturn:
        _refuse(path)

    def remove_directory(self, path: str) -> NoReturn:
        _refuse(path)

    def sync_directory(self, path: str) -> NoReturn:
        _refuse(path)


def _refuse(path: str) -> NoReturn:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
