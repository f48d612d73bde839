"""What the tests of this folder share: disks that lose power, brokers on them, told seeds."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from riverlog.testing.history import History
from tests.broker_process import BrokerProcess
from tests.crash_real.chance import told_chance
from tests.crash_real.loop_disk import LoopDisk, loop_mounted
from tests.ordeal.ordeal import SETTINGS

# What nobody writes takes no room.
SIZE_KIB = 4 << 20


@pytest.fixture
def chance() -> Random:
    return told_chance()


@pytest.fixture
def disk(kind: str, tmp_path: Path) -> Iterator[LoopDisk]:
    """A file system of a `kind`; who is done with it has it `forget`."""
    with loop_mounted(kind, tmp_path, SIZE_KIB) as disk:
        print(f"image: {disk.image}")  # noqa: T201  # shown when the test fails
        yield disk


@pytest.fixture
def place(disk: LoopDisk) -> Path:
    """Where the broker has its data; a module may have another one."""
    return disk.place


@pytest.fixture
def broker(place: Path, tmp_path: Path) -> Iterator[BrokerProcess]:
    """Its data are in `place`, its log is not. It is not started yet."""
    process = BrokerProcess(tmp_path, *SETTINGS)
    process.data = place / "data"
    try:
        yield process
    finally:
        process.kill()


@pytest.fixture
def history() -> History:
    """Where a test's clients write down what they send and are told."""
    return History()
