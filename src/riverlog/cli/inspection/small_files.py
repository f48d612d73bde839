"""The small files beside the segments, read whole or found damaged, and nothing worse."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from riverlog.log.checkpoint import Checkpoint, Seal
from riverlog.log.start_offset import start_in
from riverlog.stores.disk import Disk, opened
from riverlog.stores.small_file import DamagedFile, read_small_file

SIZE_BYTES_MAX = 256 << 20

_Read = TypeVar("_Read")


class Finding(NamedTuple):
    """Something to know of a file. Damage is what should not be so, and makes the exit code 1."""

    path: str
    position: int
    size_bytes: int
    told: str
    is_damage: bool = True


Find = Callable[[Finding], None]


def unfinished(path: str, start: int, end: int) -> Finding:
    """The end of a file that is being written, or was when the machine stopped: no damage."""
    told = "the last write is unfinished: it is going on right now, or was cut by a crash"
    return Finding(path, start, end - start, told, is_damage=False)


@contextmanager
def going_on(path: str, find: Find) -> Iterator[None]:
    """Lets one unreadable file or directory be a finding, and not the end of the inspection."""
    try:
        yield
    except FileNotFoundError:
        pass  # A broker beside us has removed it since the names were read.
    except OSError as error:
        find(_unreadable(path, error))


class TopicNote(NamedTuple):
    """What a topic's own directory says of it."""

    name: str
    partition_count: int


def read_seal(disk: Disk, path: str, find: Find) -> Seal | None:
    """What is known of a closed segment; None if there is no seal, or a damaged one."""

    def parse(content: bytes) -> Seal:
        seal = Seal.from_bytes(content)
        return Seal(*map(_whole, seal))

    return _read(disk, path, "a seal", parse, find)


def read_checkpoint(disk: Disk, path: str, find: Find) -> Checkpoint | None:
    """A partition's checkpoint; None if there is none, or a damaged one."""

    def parse(content: bytes) -> Checkpoint:
        checkpoint = Checkpoint.from_bytes(content)
        for value in (*checkpoint[:7], *(number for pair in checkpoint.epochs for number in pair)):
            _whole(value)
        return checkpoint

    return _read(disk, path, "a checkpoint", parse, find)


def read_start(disk: Disk, path: str, find: Find) -> int:
    """The first offset of a partition; 0 if nothing was ever deleted, or the file is damaged."""
    return _read(disk, path, "a start of a log", start_in, find) or 0


def read_holes(disk: Disk, path: str, find: Find) -> list[tuple[int, int]]:
    """The stretches that a broker has found damaged before."""

    def parse(content: bytes) -> list[tuple[int, int]]:
        holes = json.loads(content)
        if not isinstance(holes, list):
            raise TypeError("no list")
        return [(_whole(start), _whole(end)) for start, end in holes]

    return _read(disk, path, "a list of damage", parse, find) or []


def read_topic(disk: Disk, path: str, find: Find) -> TopicNote | None:
    """The copy of a topic's fact that stands in its directory."""

    def parse(content: bytes) -> TopicNote:
        topic = json.loads(content)
        return TopicNote(_text(topic["name"]), _whole(topic["partitions"]))

    return _read(disk, path, "a topic's note", parse, find)


def read_format(disk: Disk, path: str, find: Find) -> int | None:
    """The format of a data directory."""
    return _read(
        disk, path, "a format", lambda content: _whole(json.loads(content)["format"]), find
    )


# Any: whatever JSON there is.
def read_content(disk: Disk, path: str, find: Find) -> Any:
    """What any of these files says; None when it is damaged."""
    return _read(disk, path, "JSON", json.loads, find)


def _read(
    disk: Disk, path: str, kind: str, parse: Callable[[bytes], _Read], find: Find
) -> _Read | None:
    try:
        with opened(disk.open(path)) as file:
            size = file.size()
        if size > SIZE_BYTES_MAX:
            find(Finding(path, 0, size, f"this is not {kind}: it is far too large"))
            return None
        content = read_small_file(disk, path)
    except FileNotFoundError:
        return None
    except OSError as error:
        find(_unreadable(path, error))
        return None
    except DamagedFile:
        find(Finding(path, 0, size, "it was changed or cut: its checksum does not match"))
        return None
    try:
        return parse(content)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        find(Finding(path, 0, size, f"its checksum is right, but this is not {kind}"))
        return None


def _unreadable(path: str, error: OSError) -> Finding:
    return Finding(path, 0, 0, f"it cannot be read: {error.strerror}")


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("no whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
