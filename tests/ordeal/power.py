"""The power goes and comes back, under a broker at work."""

import os
import signal
import time

from tests.crash_real.dying import BEGINNING_S_MAX, begin_and_die
from tests.crash_real.loop_disk import LoopDisk
from tests.ordeal.ordeal import Ordeal

STOPPING_S = 0.01
RECOVERY_CUT_SHARE = 0.3


def cut_power(ordeal: Ordeal, disk: LoopDisk) -> None:
    """The power goes while everyone works; the broker is dead when it returns."""
    ordeal.errands.may_be_refused()
    # No machine answers without power: of the syncs under way when a file system is shut down,
    # both ext4 and xfs call some a success that were none.
    os.kill(ordeal.broker.pid, signal.SIGSTOP)
    time.sleep(STOPPING_S)
    disk.cut()
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
