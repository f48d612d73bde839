"""Whether power cuts bring a bug to light that somebody has put in."""

from random import Random

from tests.broker_process import BrokerProcess
from tests.crash_real.loop_disk import LoopDisk
from tests.ordeal.ordeal import undergoing
from tests.ordeal.power import cut_power, restore_power


def what_cuts_show(
    broker: BrokerProcess, disk: LoopDisk, chance: Random, cuts_max: int
) -> list[str]:
    """What was broken after the first cut that broke anything; nothing if none of so many did."""
    try:
        with undergoing(broker, chance) as ordeal:
            for _ in range(cuts_max):
                ordeal.live()
                cut_power(ordeal, disk)
                restore_power(ordeal, disk)
                if found := [*ordeal.complaints(), *ordeal.unexpected()]:
                    return found
                ordeal.work_on()
    except AssertionError as failure:
        # A broker that does not start, or does not answer, has broken its promise, too.
        return [str(failure)]
    return []
