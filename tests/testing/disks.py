"""Simulated disks for tests, and files on them in one call."""

from random import Random

from riverlog.stores.disk import Disk, opened
from riverlog.testing.simulated_disk import SimulatedDisk

SEEDS = range(200)


def new_disk(seed: int = 0, capacity_bytes: int | None = None) -> SimulatedDisk:
    return SimulatedDisk(Random(seed), capacity_bytes)


def put(disk: Disk, path: str, data: bytes, *, sync: bool = False) -> None:
    with opened(disk.create(path)) as file:
        file.write(0, data)
        if sync:
            file.sync()


def get(disk: Disk, path: str) -> bytes:
    with opened(disk.open(path)) as file:
        return file.read(0, file.size())


def durable(seed: int = 0, **files: bytes) -> SimulatedDisk:
    """A disk on which these files are safe."""
    disk = new_disk(seed)
    for name, data in files.items():
        put(disk, name, data, sync=True)
    disk.sync_directory("/")
    return disk
