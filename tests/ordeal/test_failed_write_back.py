"""A disk that took the bytes and cannot keep them: the sync fails once, and lies from then on.

The image of the file system stands on a tmpfs that is full: what the kernel writes back has no
place, `fdatasync` says so to whoever asks first, and marks the lost pages clean. Reads show them
until the power is cut.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.history import History
from tests.broker_process import BrokerProcess
from tests.crash_real.judgement import complaints
from tests.crash_real.loop_disk import LoopDisk, loop_mounted, run
from tests.crash_real.small_disk import fill, mounted
from tests.crash_real.wire import records_of, wired
from tests.ordeal import planted
from tests.ordeal.ordeal import Ordeal, undergoing
from tests.ordeal.power import cut_power, restore_power
from tests.tools import require

ROOM_KIB = 192 * 1024
SIZE_KIB = 512 * 1024
BLOCK_BYTES = 4096
# ext4 has its tables at the start, and directories there and where its other groups begin.
TABLES = (*range(4096), *(group * 32768 + block for group in (1, 2, 3) for block in range(1024)))
LOG_WRITES_MAX = 20
FAILURES = 4
TRIES = 4
FAILURE_S_MAX = 0.4


def have_log(image: Path) -> None:
    """Gives ext4's log its place in the image, and the tables and directories at its beginning."""
    require("debugfs")
    told = subprocess.run(["debugfs", "-R", "blocks <8>", image], capture_output=True, check=True)
    with image.open("r+b") as file:
        for block in (*TABLES, *map(int, told.stdout.split())):
            content = os.pread(file.fileno(), BLOCK_BYTES, block * BLOCK_BYTES)
            os.pwrite(file.fileno(), content, block * BLOCK_BYTES)


class Making(NamedTuple):
    """How a file system is made: one that has its log in the image goes on when data are lost."""

    name: str
    options: Sequence[str]
    prepare: Callable[[Path], None] = lambda image: None


MAKING = {
    "xfs": Making("xfs", ("-K",)),
    # Tables that ext4 prepared later would lose their place in the image again.
    "ext4": Making("ext4", ("-E", "nodiscard,lazy_itable_init=0"), have_log),
    "ext4 that can lose its log": Making("ext4", ("-E", "nodiscard")),
}


class ShakyDisk:
    """A file system on a loop device whose image can be kept from growing."""

    def __init__(self, disk: LoopDisk, filler: Path) -> None:
        self.disk = disk
        # A copy would take the room whose lack is the point.
        disk.keeps_cuts = False
        disk.take_pages_alone()
        self._filler = filler

    def fail(self) -> None:
        """No block that the image does not have already can be written from here on."""
        fill(self._filler)

    def recover(self) -> None:
        """Every block can be written again; nothing that was lost comes back."""
        self._filler.unlink()

    def lose_log(self) -> None:
        """The file system loses a block of its own log, and trusts itself no more."""
        with suppress(OSError):
            for number in range(LOG_WRITES_MAX):
                (self.disk.place / f"{number}").mkdir()
                run(["sync", "--file-system", str(self.disk.place)])

    def take_room_back(self, content: bytes, kept_bytes: int) -> None:
        """Of the place where a file has its `content`, leaves the image only the beginning."""
        image = self.disk.image
        start = image.read_bytes().index(content) + kept_bytes
        size = len(content) - kept_bytes
        punch = ["fallocate", "--punch-hole", f"--offset={start}", f"--length={size}"]
        assert not run([*punch, str(image)])


@pytest.fixture
def shaky(kind: str, tmp_path: Path) -> Iterator[ShakyDisk]:
    name, options, prepare = MAKING[kind]
    with (
        mounted("tmpfs", tmp_path, ROOM_KIB) as room,
        loop_mounted(name, room, SIZE_KIB, options, prepare) as disk,
    ):
        yield ShakyDisk(disk, room / "filler")


@pytest.fixture
def place(shaky: ShakyDisk) -> Path:
    return shaky.disk.place


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_write_whose_first_pages_alone_find_room_is_refused(shaky: ShakyDisk) -> None:
    before, after, kept = b"before" * 65536, b"after!" * 65536, 16 * BLOCK_BYTES
    with (shaky.disk.place / "file").open("wb", buffering=0) as file:
        file.write(before)
        os.fsync(file.fileno())
        shaky.take_room_back(before, kept)
        shaky.fail()
        os.pwrite(file.fileno(), after, 0)

        with pytest.raises(OSError, match="No space left"):
            os.fdatasync(file.fileno())


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_what_was_acknowledged_around_failed_write_backs_survives_a_power_cut(
    broker: BrokerProcess, shaky: ShakyDisk, chance: Random
) -> None:
    with undergoing(broker, chance) as ordeal:
        _fail_now_and_then(ordeal, shaky)

        assert ordeal.complaints() == []
        # Errands are refused later, too: a file may tell of a failure only at its next sync.
        assert ordeal.load.unexpected == []
        assert "Traceback" not in broker.stderr


@pytest.mark.parametrize("kind", ["xfs"])
def test_a_broker_that_syncs_again_until_it_works_is_found_out(
    broker: BrokerProcess, shaky: ShakyDisk, chance: Random
) -> None:
    broker.program = (sys.executable, planted.__file__, "syncs_again_after_a_failure")

    with undergoing(broker, chance) as ordeal:
        found: list[str] = []
        tries = 0
        while not found and tries < TRIES:
            _fail_now_and_then(ordeal, shaky)
            found = ordeal.complaints()
            tries += 1
            ordeal.work_on()

        assert found != []


def _fail_now_and_then(ordeal: Ordeal, shaky: ShakyDisk) -> None:
    """The disk cannot keep anything for a while, several times, and then the power goes, too."""
    for _ in range(FAILURES):
        ordeal.live()
        ordeal.errands.may_be_refused()
        shaky.fail()
        time.sleep(ordeal.chance.random() * FAILURE_S_MAX)
        shaky.recover()
        ordeal.errands.end()
        # Like a power cut, a failed sync takes what was acknowledged before it was synced.
        ordeal.history.power_lost()
        # Without a restart everybody goes on.
        ordeal.work_on()
    ordeal.live()
    cut_power(ordeal, shaky.disk)
    restore_power(ordeal, shaky.disk)


@pytest.mark.parametrize("kind", ["ext4 that can lose its log"])
def test_a_file_system_that_turned_read_only_serves_reads_until_it_is_mounted_again(
    broker: BrokerProcess, shaky: ShakyDisk, history: History
) -> None:
    broker.start()
    with wired(broker, history) as wire:
        wire.create_topic("orders")
        for number in range(50):
            wire.produce("orders", (f"before {number}", bytes(2000)))
        acknowledged = len(records_of(wire.read("orders")))
        shaky.fail()
        shaky.lose_log()
        refused = {wire.produce("orders", (f"lost {n}", bytes(200_000))).error for n in range(20)}
        shaky.recover()
        late = wire.produce("orders", ("late", b"payload"))
        seen = records_of(wire.read("orders"))

    assert refused <= {ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR}
    assert late.error == ErrorCode.KAFKA_STORAGE_ERROR
    assert len(seen) >= acknowledged == 50
    broker.kill()
    shaky.disk.restore()
    broker.start()
    with wired(broker, history) as wire:
        assert wire.produce("orders", ("after", b"payload")).is_acknowledged
        wire.read_back("orders")
    assert complaints(history) == []
