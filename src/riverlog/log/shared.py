"""What the partitions of one broker have in common."""

from collections.abc import Callable
from typing import NamedTuple

from riverlog.log.commit import GroupCommit
from riverlog.log.damage import Report
from riverlog.log.journal import Journal
from riverlog.stores.disk import Disk
from riverlog.stores.handles import Handles
from riverlog.stores.syncer import Syncer

Trouble = Callable[[str, OSError], None]


def no_trouble(_directory: str, _error: OSError) -> None:
    """For those who do not want to know."""


class Shared(NamedTuple):
    """What all partitions of a broker share.

    `trouble` is told once when the disk begins to refuse a partition's records. Without a
    `journal` every partition syncs its own file.
    """

    disk: Disk
    handles: Handles
    commit: GroupCommit
    syncer: Syncer
    report: Report
    trouble: Trouble = no_trouble
    journal: Journal | None = None
