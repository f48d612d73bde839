"""A small append-only log over the `Disk` port, right as it stands and wrong in each named way.

It is the yardstick of the simulated disk: the right one must lose nothing at any crash point, and
each wrong one must be caught.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from zlib import crc32

from riverlog.stores.disk import Disk, File, opened

_DIRECTORY = "data/log"
_RECORDS_PER_FILE = 4
_HEADER = struct.Struct(">IQI")


class Flaw(StrEnum):
    """What a wrong appender does wrong."""

    NO_SYNC = "acknowledges without any sync of the file"
    NO_DIRECTORY_SYNC = "never syncs a directory"
    EARLY_ACK = "acknowledges before the sync"
    RETRIED_SYNC = "syncs again after a failed sync, and believes it"
    NO_SYNC_IN_RECOVERY = "counts what the last process wrote without syncing it"
    NO_REWRITE_IN_RECOVERY = "syncs what the last process wrote, although its sync may have failed"
    NO_CHECKSUM = "believes every frame that is long enough"


class Broken(Exception):
    """A sync failed: what was appended since the last commit is unknown until a restart."""


@dataclass(frozen=True, slots=True)
class Frame:
    offset: int
    payload: bytes


class Appender:
    """Gives each payload an offset; `on_durable` hears of it once it survives a power cut.

    Opening it recovers what the last process left.
    """

    def __init__(
        self, disk: Disk, on_durable: Callable[[Frame], None], flaw: Flaw | None = None
    ) -> None:
        self._disk = disk
        self._on_durable = on_durable
        self._flaw = flaw
        self.durable_end = 0
        self._waiting: list[Frame] = []
        for directory, parent in (("data", "/"), (_DIRECTORY, "data")):
            disk.make_directory(directory)
            self._sync_directory(parent)
        self._end = self._recover()
        self.durable_end = self._end

    def append(self, payload: bytes) -> int:
        """Takes the next offset. `OSError` means: refused, and nothing of it is left."""
        if self._end - self._base >= _RECORDS_PER_FILE:
            self.commit()
            self._start_file(self._end)
        data = _framed(self._end, payload)
        try:
            self._file.write(self._position, data)
        except OSError:
            self._file.truncate(self._position)
            raise
        self._position += len(data)
        self._waiting.append(Frame(self._end, payload))
        self._end += 1
        if self._flaw is Flaw.EARLY_ACK:
            self._acknowledge()
        return self._end - 1

    def commit(self) -> None:
        """Makes everything appended durable, or raises `Broken`."""
        if self._flaw is not Flaw.NO_SYNC:
            try:
                self._file.sync()
            except OSError as error:
                if self._flaw is not Flaw.RETRIED_SYNC:
                    raise Broken from error
                self._file.sync()
        self._acknowledge()

    def read(self) -> list[Frame]:
        """All that is durable."""
        frames: list[Frame] = []
        for name in self._disk.list(_DIRECTORY):
            with opened(self._disk.open(f"{_DIRECTORY}/{name}")) as file:
                frames += self._scan(file, len(frames))[0]
        return frames[: self.durable_end]

    def _acknowledge(self) -> None:
        self.durable_end = self._end
        for frame in self._waiting:
            self._on_durable(frame)
        self._waiting.clear()

    def _recover(self) -> int:
        end, is_whole = 0, True
        for name in self._disk.list(_DIRECTORY):
            path = f"{_DIRECTORY}/{name}"
            if not is_whole or int(name) != end:
                self._disk.remove(path)
                continue
            self._base, self._file = end, self._disk.open(path)
            frames, self._position = self._scan(self._file, end)
            is_whole = self._position == self._file.size()
            self._keep(self._file, self._position)
            end += len(frames)
        self._sync_directory(_DIRECTORY)
        if not self._disk.list(_DIRECTORY):
            self._start_file(0)
        return end

    def _keep(self, file: File, size: int) -> None:
        # The last process may have died after a failed sync: then the bytes read here are not on
        # the disk, and a sync alone would not bring them there.
        if self._flaw is not Flaw.NO_REWRITE_IN_RECOVERY:
            file.write(0, file.read(0, size))
        file.truncate(size)
        if self._flaw is not Flaw.NO_SYNC_IN_RECOVERY:
            file.sync()

    def _start_file(self, base: int) -> None:
        path = f"{_DIRECTORY}/{base:08d}"
        file = self._disk.create(path)
        try:
            file.sync()
            self._sync_directory(_DIRECTORY)
        except OSError as error:
            raise Broken from error
        self._base, self._file, self._position = base, file, 0

    def _scan(self, file: File, base: int) -> tuple[list[Frame], int]:
        frames: list[Frame] = []
        data, position = file.read(0, file.size()), 0
        while position + _HEADER.size <= len(data):
            size, offset, checksum = _HEADER.unpack_from(data, position)
            payload = data[position + _HEADER.size : position + _HEADER.size + size]
            is_valid = checksum == _checksum(offset, payload) or self._flaw is Flaw.NO_CHECKSUM
            if len(payload) != size or offset != base + len(frames) or not is_valid:
                break
            frames.append(Frame(offset, payload))
            position += _HEADER.size + size
        return frames, position

    def _sync_directory(self, path: str) -> None:
        if self._flaw is not Flaw.NO_DIRECTORY_SYNC:
            self._disk.sync_directory(path)


def _framed(offset: int, payload: bytes) -> bytes:
    return _HEADER.pack(len(payload), offset, _checksum(offset, payload)) + payload


def _checksum(offset: int, payload: bytes) -> int:
    # The offset is in it so that zeros are no frame: the CRC of nothing at all is zero.
    return crc32(payload, crc32(b"offset %d" % offset))
