"""File systems that are soon full: mounted for one test, gone after it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.crash_real.loop_disk import loop_mounted, mounted_by

_BLOCK = bytes(64 * 1024)


@contextmanager
def mounted(kind: str, directory: Path, size_kib: int) -> Iterator[Path]:
    """An empty file system of this kind and size; unmounted at the end of the `with`."""
    if kind == "tmpfs":
        place = directory / "small-disk"
        with mounted_by(["mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "none"], place):
            yield place
    else:
        with loop_mounted(kind, directory, size_kib) as disk:
            yield disk.place


def fill(file: Path, *, room_kib: int = 0) -> None:
    """Takes all the room that is left, but for `room_kib`; give it back by removing the file."""
    reserve = file.with_suffix(".reserve")
    reserve.write_bytes(bytes(room_kib * 1024))
    with file.open("wb", buffering=0) as filler:
        for size in (len(_BLOCK), 4096, 1):
            with suppress(OSError):
                while filler.write(_BLOCK[:size]):
                    pass
            # Smaller pieces may still fit, when these have their place.
            os.fsync(filler.fileno())
    reserve.unlink()
