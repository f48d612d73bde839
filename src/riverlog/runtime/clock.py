"""Time, through one port: whoever waits or asks what time it is takes a `Clock`."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Two clocks and a way to wait.

    The wall clock is for what people and records see; it may jump either way at any moment. The
    monotonic clock is for deadlines and durations, and the only one that sleeping follows.
    """

    def now_ms(self) -> int:
        """The wall clock: milliseconds since 1970 in UTC. May run backwards between two calls."""

    def monotonic_ms(self) -> int:
        """Milliseconds since some fixed moment; never runs backwards, and starts anywhere."""

    async def sleep_ms(self, duration_ms: int) -> None:
        """Returns no earlier than `duration_ms` from now; others run meanwhile, even for zero."""


class SystemClock:
    """The clocks of this machine."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    async def sleep_ms(self, duration_ms: int) -> None:
        await asyncio.sleep(duration_ms / 1000)


def worked_s() -> float:
    """How long the calling thread has been at work: two calls tell what came in between."""
    return time.thread_time()
