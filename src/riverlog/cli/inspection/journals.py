"""The redo journal: what a start after a crash would put back into the segments."""

import os
import re
import struct
from typing import NamedTuple

from riverlog.cli.inspection.partitions import AsideFacts, aside_in
from riverlog.cli.inspection.segments import Inspector
from riverlog.cli.inspection.small_files import SIZE_BYTES_MAX, Finding, going_on, unfinished
from riverlog.log.journal import DIRECTORY_NAME, FILE_SUFFIX
from riverlog.log.journal_frames import Frame, decode
from riverlog.stores.disk import opened

_NAME = re.compile(r"[0-9]{10}-([0-9a-f]{16})\.journal")


class JournalFileFacts(NamedTuple):
    """One file: as many rounds of group commit, with what they had to keep of how many places."""

    path: str
    file_bytes: int
    frame_count: int
    entry_count: int
    entry_bytes: int


class JournalFacts(NamedTuple):
    """The journal's directory. After a clean stop there are no files."""

    path: str
    files: tuple[JournalFileFacts, ...]
    entry_bytes: int
    file_bytes: int
    aside: tuple[AsideFacts, ...]


def is_journal_file(name: str) -> bool:
    """Whether a file of this name is one of a journal's."""
    return _NAME.fullmatch(name) is not None


def is_journal_directory(path: str, names: list[str]) -> bool:
    """Whether a directory with this path and these names in it is a journal's."""
    is_named_so = os.path.basename(os.path.abspath(path)) == DIRECTORY_NAME
    return is_named_so or any(map(is_journal_file, names))


def inspect_journal(inspector: Inspector, path: str) -> JournalFacts:
    """Looks at the journal of a data directory; raises `OSError`."""
    names = inspector.disk.list(path)
    files: list[JournalFileFacts] = []
    for name in filter(is_journal_file, names):
        with going_on(f"{path}/{name}", inspector.find):
            files.append(inspect_journal_file(inspector, f"{path}/{name}"))
    entry_bytes = sum(file.entry_bytes for file in files)
    if entry_bytes:
        told = "the broker runs, or was cut off: its next start puts this back into the segments"
        inspector.find(Finding(path, 0, entry_bytes, told, is_damage=False))
    others = [name for name in names if not name.endswith(FILE_SUFFIX)]
    return JournalFacts(
        path,
        tuple(files),
        entry_bytes,
        sum(file.file_bytes for file in files),
        tuple(aside_in(inspector, path, others)),
    )


def inspect_journal_file(inspector: Inspector, path: str) -> JournalFileFacts:
    """Looks at one file, whose name must be a journal's; raises `OSError`."""
    named = _NAME.fullmatch(os.path.basename(path))
    assert named is not None, "its name has its salt"
    with opened(inspector.disk.open(path)) as file:
        size = file.size()
        data = file.read(0, min(size, SIZE_BYTES_MAX))
    if size > SIZE_BYTES_MAX:
        inspector.find(Finding(path, 0, size, "this is not a journal: it is far too large"))
    frames = _frames(inspector, path, bytes.fromhex(named[1]), data)
    entries = [entry for frame in frames for entry in frame.entries]
    return JournalFileFacts(
        path, size, len(frames), len(entries), sum(entry.size_bytes for entry in entries)
    )


def _frames(inspector: Inspector, path: str, salt: bytes, data: bytes) -> list[Frame]:
    try:
        found = decode(salt, data)
    except struct.error:
        inspector.find(Finding(path, 0, len(data), "a frame's checksum is right, but it is none"))
        return []
    for start, end in found.holes:
        inspector.find(Finding(path, start, end - start, "no sound frames here"))
    if found.torn is not None:
        inspector.find(unfinished(path, *found.torn))
    return found.frames
