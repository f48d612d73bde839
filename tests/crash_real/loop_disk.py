"""A file system in an image file: mounted for one test, and without power whenever that says so."""

import fcntl
import os
import resource
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tools import require

RUN_S_MAX = 30
UNMOUNT_TRIES = 50
UNMOUNT_PAUSE_S = 0.1

# Without a reserve, or root would write on where others are refused.
MAKE = {"ext4": ("mkfs.ext4", "-q", "-m", "0"), "xfs": ("mkfs.xfs", "-q")}

# _IOR('X', 125, u32), the same for ext4 (EXT4_IOC_SHUTDOWN) and xfs (XFS_IOC_GOINGDOWN).
_SHUTDOWN = 0x8004587D
# Of its flags the one that does not even write the file system's own log.
_NO_LOG_FLUSH = 2


class LoopDisk:
    """An image file and where it is mounted.

    With `keeps_cuts` the image as the last cut left it stays beside it, for those who look into a
    failure.
    """

    def __init__(self, image: Path, place: Path) -> None:
        self.keeps_cuts = True
        self.image = image
        self.place = place
        self._usual_limit: tuple[Path, str] | None = None

    def take_pages_alone(self) -> None:
        """Has every page reach the image by itself: for an image that may find no room.

        Of a larger write the image may take the first pages only; the loop device of Linux 6.18
        calls that a success, so that not even `fdatasync` can know of it. No real disk does.
        """
        device = os.stat(self.place).st_dev
        limit = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/queue/max_sectors_kb")
        self._usual_limit = limit, limit.read_text()
        limit.write_text(str(resource.getpagesize() // 1024))

    def take_any_size(self) -> None:
        """Ends `take_pages_alone`: the device would keep to it, whatever it holds next."""
        if self._usual_limit is not None:
            limit, usual = self._usual_limit
            limit.write_text(usual)
            self._usual_limit = None

    def cut(self) -> None:
        """The power goes: nothing more reaches the image, and every call on a file fails."""
        descriptor = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(descriptor)

    def forget(self) -> None:
        """Gives back the room of the image, which is of no more interest."""
        for image in self.image.parent.glob(f"{self.image.name}*"):
            image.unlink()

    def restore(self) -> None:
        """The power is back: mounted afresh, with what the image holds and no page of memory."""
        takes_pages_alone = self._usual_limit is not None
        self.take_any_size()
        unmount(self.place)
        if self.keeps_cuts:
            assert not run(["cp", "--sparse=always", str(self.image), f"{self.image}.at-cut"])
        refusal = run(["mount", "-o", "loop", str(self.image), str(self.place)])
        assert not refusal, f"{self.image} cannot be mounted again: {refusal}"
        if takes_pages_alone:
            self.take_pages_alone()


@contextmanager
def loop_mounted(
    kind: str,
    directory: Path,
    size_kib: int,
    options: Sequence[str] = (),
    prepare: Callable[[Path], None] = lambda image: None,
) -> Iterator[LoopDisk]:
    """An empty file system of this kind and size in `directory`; unmounted at the end.

    `prepare` gets the image before it is mounted.
    """
    require(MAKE[kind][0])
    disk = LoopDisk(directory / f"{kind}.image", directory / kind)
    with disk.image.open("wb") as file:
        file.truncate(size_kib * 1024)
    refusal = run([*MAKE[kind], *options, str(disk.image)])
    assert not refusal, f"{kind} cannot be made: {refusal}"
    prepare(disk.image)
    with mounted_by(["mount", "-o", "loop", str(disk.image)], disk.place):
        try:
            yield disk
        finally:
            disk.take_any_size()


@contextmanager
def mounted_by(command: Sequence[str], place: Path) -> Iterator[None]:
    """Mounts at `place`, which is made; skips the test where that is refused."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    place.mkdir()
    refusal = run([*command, str(place)])
    if refusal:
        pytest.skip(f"nothing can be mounted here: {refusal}")
    # Who ends the tests this way wants them to clean up, too.
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        unmount(place)
        signal.signal(signal.SIGTERM, before)


def _stop(_signal: int, _frame: object) -> None:
    pytest.exit("told to end")


def unmount(place: Path) -> None:
    """Returns when it is done; a process that has just died may still hold it for a moment."""
    for _ in range(UNMOUNT_TRIES):
        refusal = run(["umount", str(place)])
        if not refusal or not os.path.ismount(place):
            return
        time.sleep(UNMOUNT_PAUSE_S)
    # It goes when the last who uses it does, and no image is left mounted behind a failed test.
    run(["umount", "--lazy", str(place)])
    raise AssertionError(f"{place} is still in use: {refusal}")


def run(command: Sequence[str]) -> str:
    """Runs a command; what it complained about, or nothing when it went well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S_MAX)
    return done.stderr.strip() or f"exit {done.returncode}" if done.returncode else ""
