"""The directory a broker keeps its data in: made, told from other directories, of a known format.

`format.json` is durable before anything else is written and is never missing afterwards, so a
directory that holds other things and no such file is not ours.
"""

import json
import os
import re
from collections.abc import Collection
from typing import NamedTuple

from riverlog.records.crc import crc32c
from riverlog.stores.disk import Disk, opened
from riverlog.stores.small_file import DRAFT_SUFFIX, write_small_file

FORMAT = 1
FORMAT_FILE = "format.json"

_DAMAGED = f"{FORMAT_FILE}.damaged"
# A file system mounted as the data directory has lost+found in it from the start.
_HARMLESS = frozenset({FORMAT_FILE, FORMAT_FILE + DRAFT_SUFFIX, "lost+found"})
_FORMAT_BYTES_MAX = 4096
_FORMAT_NUMBER = re.compile(rb'"format": (\d{1,9})')
_CHECKSUM_BYTES = 10


class NotADataDirectory(Exception):
    """What stands there is not ours; nothing was touched. Another directory will do."""


class UnknownFormat(Exception):
    """A newer Riverlog wrote the data; nothing was touched. That one can open them."""


class Finding(NamedTuple):
    """Something an operator should know: which file, and a sentence about it."""

    path: str
    told: str


class DataDirectory(NamedTuple):
    """A data directory whose format file is there, right and durable."""

    path: str
    format: int
    findings: tuple[Finding, ...]


def open_data_directory(
    disk: Disk, path: str, *, made_by: str, data_names: Collection[str]
) -> DataDirectory:
    """Makes `path` a data directory, or finds it to be one.

    `made_by` is for people who read the file. `data_names` are the names our data have in the
    directory: beside one of them a missing or damaged format file is damage, which is mended and
    reported and no reason not to start. Raises `NotADataDirectory`, `UnknownFormat` or `OSError`.
    """
    make_durable_directory(disk, path)
    try:
        names = disk.list(path)
    except NotADirectoryError:
        raise NotADataDirectory(f"{path} is not a directory; choose another one") from None
    format_path = f"{path}/{FORMAT_FILE}"
    findings: tuple[Finding, ...] = ()
    if FORMAT_FILE in names:
        data = _beginning(disk, format_path)
        found = _format_in(data)
        if found is not None and found <= FORMAT:
            # An earlier start may have died between the rename and the sync that keeps it.
            disk.sync_directory(path)
            return DataDirectory(path, found, ())
        if (newer := found or _newer_format_in_damaged(data)) is not None:
            raise UnknownFormat(
                f"{path} holds data of format {newer} and this Riverlog knows formats up to "
                f"{FORMAT}; open it with the newer Riverlog that wrote it"
            )
        _check_ours(path, names, data_names)
        kept = _keep_aside(disk, path, data)
        findings = (Finding(format_path, f"It was damaged: rewritten, its bytes kept as {kept}."),)
    elif _check_ours(path, names, data_names):
        findings = (Finding(format_path, "It was missing beside our data, and was rewritten."),)
    content = json.dumps({"format": FORMAT, "made_by": made_by}).encode()
    write_small_file(disk, format_path, content)
    return DataDirectory(path, FORMAT, findings)


def make_durable_directory(disk: Disk, path: str) -> None:
    """Makes a directory and those above it; their names survive a power cut when it returns."""
    parent = os.path.dirname(path.rstrip("/")) or ("/" if path.startswith("/") else ".")
    if disk.exists(path):
        try:
            # An earlier start may have made it and died before this.
            disk.sync_directory(parent)
        except PermissionError:
            # In a parent we may not read, someone else made it, and its name is theirs to keep.
            return
    else:
        make_durable_directory(disk, parent)
        disk.make_directory(path)
        disk.sync_directory(parent)


def _check_ours(path: str, names: list[str], data_names: Collection[str]) -> bool:
    """Whether our data stand in the directory; raises when only something else does."""
    others = [name for name in names if name not in _HARMLESS and not name.startswith(_DAMAGED)]
    is_ours = any(name in data_names for name in others)
    if others and not is_ours:
        raise NotADataDirectory(
            f"{path} is not empty and holds no Riverlog data; choose another directory"
        )
    return is_ours


def _beginning(disk: Disk, path: str) -> bytes:
    # A longer file is none of ours and need not be read to its end.
    with opened(disk.open(path)) as file:
        return file.read(0, _FORMAT_BYTES_MAX)


def _format_in(data: bytes) -> int | None:
    """The format an undamaged format file names, or None."""
    # The checksum line is the one `write_small_file` ends a file with.
    content = data[:-_CHECKSUM_BYTES]
    if data[len(content) :] != b"\n%08x\n" % crc32c(content):
        return None
    number = _FORMAT_NUMBER.search(content)
    return None if number is None else int(number[1])


def _newer_format_in_damaged(data: bytes) -> int | None:
    """The newer format that a damaged file names, or None when it names none, or by damage only."""
    number = _FORMAT_NUMBER.search(data)
    if number is None or int(number[1]) <= FORMAT:
        return None
    # If our own number in this place makes the checksum right, the number was what was damaged.
    mended = data[: number.start(1)] + b"%d" % FORMAT + data[number.end(1) :]
    return int(number[1]) if _format_in(mended) is None else None


def _keep_aside(disk: Disk, path: str, data: bytes) -> str:
    """Gives the damaged file a second name, durably, and tells it.

    A link and not a rename: at no moment may the format file be missing.
    """
    names, number = disk.list(path), 0
    while (name := f"{_DAMAGED}-{number}" if number else _DAMAGED) in names:
        if _beginning(disk, f"{path}/{name}") == data:
            break  # An earlier start came so far and died.
        number += 1
    else:
        disk.link(f"{path}/{FORMAT_FILE}", f"{path}/{name}")
    disk.sync_directory(path)
    return name
