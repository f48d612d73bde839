"""The power goes and comes back, under a broker at work."""

import time

from tests.crash_real.dying import BEGINNING_S_MAX, begin_and_die
from tests.crash_real.loop_disk import LoopDisk
from tests.ordeal.ordeal import Ordeal

UNPOWERED_S_MAX = 0.05
RECOVERY_CUT_SHARE = 0.3


def cut_power(ordeal: Ordeal, disk: LoopDisk) -> None:
    """The power goes while everyone works; the broker is dead when it returns."""
    ordeal.errands.may_be_refused()
    disk.cut()
    # It lives on for a moment: whatever it promises now has no disk under it.
    time.sleep(ordeal.chance.random() * UNPOWERED_S_MAX)
    ordeal.broker.kill()
    ordeal.errands.end()
    ordeal.history.power_lost()


def restore_power(ordeal: Ordeal, disk: LoopDisk) -> None:
    """The broker is back on what the disk still has; perhaps after a cut in its recovery."""
    disk.restore()
    while ordeal.chance.random() < RECOVERY_CUT_SHARE:
        begin_and_die(ordeal.broker, ordeal.chance.random() * BEGINNING_S_MAX, disk.cut)
        disk.restore()
    ordeal.broker.start()
