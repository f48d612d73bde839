"""Small files that are whole or not there: written aside, synced, renamed, checked when read."""

from riverlog.records.crc import crc32c
from riverlog.stores.disk import Disk, opened

DRAFT_SUFFIX = ".draft"
_CHECKSUM_BYTES = 10


class DamagedFile(Exception):
    """The file is there, but its bytes are not those that were written."""


def write_small_file(disk: Disk, path: str, content: bytes) -> None:
    """Puts `content` in place of whatever `path` held, durably, all or nothing.

    Its directory must exist and be durable. A checksum line follows the content, so that people
    can read the file and we can tell when it was changed.
    """
    replace_file(disk, path, content + _checksum(content))


def replace_file(disk: Disk, path: str, data: bytes) -> None:
    """Puts `data` in place of whatever `path` held, durably, all or nothing.

    A file of an earlier try is not written to again: its failure may not have been told yet.
    """
    draft = path + DRAFT_SUFFIX
    if disk.exists(draft):
        disk.remove(draft)
    with opened(disk.create(draft)) as file:
        file.write(0, data)
        file.sync()
    disk.rename(draft, path)
    disk.sync_directory(path.rpartition("/")[0])


def read_small_file(disk: Disk, path: str) -> bytes:
    """The content as it was written; raises `DamagedFile`, or `FileNotFoundError`."""
    with opened(disk.open(path)) as file:
        data = file.read(0, file.size())
    content = data[:-_CHECKSUM_BYTES]
    if len(data) < _CHECKSUM_BYTES or data[-_CHECKSUM_BYTES:] != _checksum(content):
        raise DamagedFile(f"{path} was changed or cut")
    return content


def set_aside(disk: Disk, path: str) -> str:
    """Moves a damaged file out of the way under a name not taken yet, and gives that name."""
    number = 0
    while disk.exists(aside := f"{path}.damaged{f'-{number}' if number else ''}"):
        number += 1
    disk.rename(path, aside)
    disk.sync_directory(path.rpartition("/")[0])
    return aside


def _checksum(content: bytes) -> bytes:
    return b"\n%08x\n" % crc32c(content)
