"""A disk that is taken away from whoever used it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from riverlog.stores.disk import OsDisk, opened
from riverlog.stores.memory_disk import MemoryDisk
from riverlog.testing.severable_disk import SeverableDisk


def test_nothing_gets_through_once_it_is_severed() -> None:
    behind = MemoryDisk()
    disk = SeverableDisk(behind)
    file = disk.create("a")
    file.write(0, b"before")
    disk.sever()
    calls: list[Callable[[], object]] = [
        lambda: file.write(0, b"after!"),
        lambda: file.read(0, 1),
        lambda: file.truncate(0),
        file.sync,
        file.size,
        lambda: disk.open("a"),
        lambda: disk.create("b"),
        lambda: disk.rename("a", "b"),
        lambda: disk.link("a", "b"),
        lambda: disk.remove("a"),
        lambda: disk.make_directory("d"),
        lambda: disk.remove_directory("d"),
        lambda: disk.list(""),
        lambda: disk.exists("a"),
        lambda: disk.sync_directory(""),
    ]
    for call in calls:
        with pytest.raises(OSError, match="Input/output error"):
            call()
    assert behind.list("") == ["a"]
    with opened(behind.open("a")) as found:
        assert found.read(0, 10) == b"before"


def test_files_that_were_left_open_can_be_closed(tmp_path: Path) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    disk = SeverableDisk(OsDisk())
    for name in "abc":
        disk.create(f"{tmp_path}/{name}")
    disk.open(f"{tmp_path}/a").close()
    disk.sever()
    disk.close_files()
    disk.close_files()
    assert len(os.listdir("/proc/self/fd")) == descriptors
