"""How much room there is where a directory lies."""

import os
from collections.abc import Callable
from typing import NamedTuple

UNKNOWN_BYTES = -1


class DiskSpace(NamedTuple):
    """A file system's size, and how much of it we may still take; -1 where nobody knows."""

    total_bytes: int
    usable_bytes: int


SpaceOf = Callable[[str], DiskSpace]


def disk_space(directory: str) -> DiskSpace:
    """The room of the file system that `directory` is on; raises `OSError`."""
    found = os.statvfs(directory)
    return DiskSpace(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)


def unknown_space(_directory: str) -> DiskSpace:
    """For disks that are none."""
    return DiskSpace(UNKNOWN_BYTES, UNKNOWN_BYTES)
