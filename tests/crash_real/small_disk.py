"""File systems that are soon full: mounted for one test, gone after it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.tools import require

RUN_S_MAX = 30
_BLOCK = bytes(64 * 1024)


@contextmanager
def mounted(kind: str, directory: Path, size_kib: int) -> Iterator[Path]:
    """An empty file system of this kind and size; unmounted at the end of the `with`."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    place = directory / "small-disk"
    place.mkdir()
    if kind == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "none", str(place)]
    else:
        require("mkfs.ext4")
        image = directory / "image"
        with image.open("wb") as file:
            file.truncate(size_kib * 1024)
        # Without a reserve, or root would write on where others are refused.
        _run(["mkfs.ext4", "-q", "-m", "0", str(image)])
        command = ["mount", "-o", "loop", str(image), str(place)]
    refusal = _run(command)
    if refusal:
        pytest.skip(f"a {kind} cannot be mounted here: {refusal}")
    try:
        yield place
    finally:
        assert not _run(["umount", str(place)])


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


def _run(command: list[str]) -> str:
    """Runs a command; what it complained about, or nothing when it went well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S_MAX)
    return done.stderr.strip() or f"exit {done.returncode}" if done.returncode else ""
