"""Bugs put in on purpose: the very cuts that the broker passes unchanged must bring them out."""

import sys
from random import Random

import pytest

from tests.broker_process import BrokerProcess
from tests.crash_real.loop_disk import LoopDisk
from tests.ordeal import planted
from tests.ordeal.trial import what_cuts_show

CUTS_MAX = 20

# Those that a few cuts bring out, each on one file system, to be quick;
# docs/durability.md has the whole table.
FOUND_OUT = [
    ("acknowledges_early", "ext4"),
    ("skips_the_sync_of_segments", "ext4"),
    ("skips_the_sync_of_the_journal", "xfs"),
]


@pytest.mark.parametrize(("bug", "kind"), FOUND_OUT)
def test_a_planted_bug_is_found_out_by_power_cuts(
    broker: BrokerProcess, disk: LoopDisk, chance: Random, bug: str
) -> None:
    broker.program = (sys.executable, planted.__file__, bug)

    found = what_cuts_show(broker, disk, chance, CUTS_MAX)

    assert found != []
    disk.forget()
