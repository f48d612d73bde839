"""How a request waits for more to read."""

import asyncio
from collections.abc import Callable, Collection
from typing import Any

from riverlog.kafka.later import Parked
from riverlog.log.partition import Partition


def park(logs: Collection[Partition], wait_ms: int, look: Callable[[bool], Any]) -> Parked:
    """Looks whenever more can be read of any of `logs`, and when the time is up.

    `look` is told whether it is, and gives the answer, None to wait on.
    """
    is_late = False

    def end() -> None:
        nonlocal is_late
        is_late = True
        parked.wake()

    def leave() -> None:
        timer.cancel()
        for log in logs:
            log.waiting.unwatch(parked.wake)

    parked = Parked(lambda: look(is_late), leave)
    timer = asyncio.get_running_loop().call_later(wait_ms / 1000, end)
    for log in logs:
        log.waiting.watch(parked.wake)
    return parked
