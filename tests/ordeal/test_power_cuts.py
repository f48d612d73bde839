"""Power cuts under load, again and again on one directory: every promise is kept.

In the environment, `RIVERLOG_POWER_ROUNDS=10` has so many rounds of ten cuts for each file system;
`RIVERLOG_SEED` repeats the choices of an earlier run, as far as clocks and threads allow.
"""

import os
from random import Random

import pytest

from tests.broker_process import BrokerProcess
from tests.crash_real.loop_disk import LoopDisk, run
from tests.ordeal.ordeal import undergoing
from tests.ordeal.power import cut_power, restore_power
from tests.tools import require

CUTS = 10
ROUNDS = int(os.environ.get("RIVERLOG_POWER_ROUNDS", "1"))

pytestmark = pytest.mark.parametrize("kind", ["ext4", "xfs"])


@pytest.mark.timeout(900)
@pytest.mark.parametrize("_round", range(ROUNDS))
def test_power_cuts_again_and_again_break_no_promise(
    broker: BrokerProcess, disk: LoopDisk, chance: Random, _round: int
) -> None:
    with undergoing(broker, chance) as ordeal:
        for _ in range(CUTS):
            ordeal.live()
            cut_power(ordeal, disk)
            restore_power(ordeal, disk)
            assert ordeal.complaints() == []
            assert ordeal.unexpected() == []
            ordeal.work_on()
        ordeal.end()

        assert ordeal.complaints() == []
        assert ordeal.unexpected() == []
        assert ordeal.errands.undone() == []
        assert _damage(broker) == []
        assert "Traceback" not in broker.stderr
    disk.forget()


def test_syncs_that_do_nothing_are_found_out(
    broker: BrokerProcess, disk: LoopDisk, chance: Random
) -> None:
    require("eatmydata")
    broker.program = ("eatmydata", *broker.program)

    with undergoing(broker, chance) as ordeal:
        ordeal.live()
        cut_power(ordeal, disk)
        restore_power(ordeal, disk)

        # Lost, or seen by a consumer and lost.
        lost = [one for one in ordeal.complaints() if "is not there" in one]
    assert lost != [], "a rig that finds nothing here finds nothing anywhere"
    disk.forget()


def test_what_was_synced_by_somebody_else_is_not_lost_even_then(
    broker: BrokerProcess, disk: LoopDisk, chance: Random
) -> None:
    require("eatmydata")
    broker.program = ("eatmydata", *broker.program)

    with undergoing(broker, chance) as ordeal:
        ordeal.live()
        ordeal.end()
        assert not run(["sync", "--file-system", str(disk.place)])
        cut_power(ordeal, disk)
        restore_power(ordeal, disk)

        assert ordeal.complaints() == [], "the rig takes more than a power cut does"
    disk.forget()


def _damage(broker: BrokerProcess) -> list[str]:
    """What it found damaged, but for torn tails: a write that the cut came into leaves those."""
    found = [line for line in broker.stderr.splitlines() if "damage found" in line]
    return [line for line in found if "the last write was torn" not in line]
