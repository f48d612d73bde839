"""Ends of brokers that have hardly begun."""

import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

from tests.broker_process import BrokerProcess

BEGINNING_S_MAX = 0.25


def begin_and_die(
    broker: BrokerProcess, life_s: float, before_death: Callable[[], None] = lambda: None
) -> None:
    """Starts a broker on the same data and kills it so much later, ready or not."""
    with broker.spawn() as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(life_s)
        # Who dies answers nobody, whatever happens before.
        process.send_signal(signal.SIGSTOP)
        before_death()
        process.kill()
