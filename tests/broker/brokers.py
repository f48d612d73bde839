"""Brokers for tests, on simulated disks and with ids from a seed."""

from random import Random

from riverlog.broker.broker import Broker, World
from riverlog.groups.settings import GroupSettings
from riverlog.log.damage import Damage
from riverlog.log.settings import LogSettings
from riverlog.stores.syncer import InlineSyncer, Syncer
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import SimulatedDisk

ROOT = "data"


def new_disk() -> SimulatedDisk:
    """A disk with an empty data directory."""
    disk = SimulatedDisk(Random(0))
    disk.make_directory(ROOT)
    disk.sync_directory("")
    return disk


async def open_broker(
    disk: SimulatedDisk,
    *,
    seed: int = 0,
    syncer: Syncer | None = None,
    damages: list[Damage] | None = None,
    defaults: LogSettings | None = None,
    clock: ManualClock | None = None,
    group_settings: GroupSettings | None = None,
) -> Broker:
    """A broker that is ready; a different `seed` gives different ids."""
    report = [] if damages is None else damages
    world = World(
        disk, syncer or InlineSyncer(), clock or ManualClock(), SeededChance(seed), report.append
    )
    return await Broker.open(world, ROOT, defaults, group_settings=group_settings)
