"""The outside, as a broker sees it: its ports, brought by whoever starts it."""

from collections.abc import Callable
from typing import NamedTuple

from riverlog.log.damage import Damage
from riverlog.log.shared import Trouble, no_trouble
from riverlog.runtime.chance import Chance
from riverlog.runtime.clock import Clock
from riverlog.stores.disk import Disk
from riverlog.stores.disk_space import SpaceOf, unknown_space
from riverlog.stores.syncer import Syncer


class World(NamedTuple):
    """The outside, as a broker sees it.

    `has_costly_syncs` says that one sync for many partitions is worth a journal: not in memory.
    `space` tells how much room the disk has.
    """

    disk: Disk
    syncer: Syncer
    clock: Clock
    chance: Chance
    report: Callable[[Damage], None]
    trouble: Trouble = no_trouble
    has_costly_syncs: bool = True
    space: SpaceOf = unknown_space
