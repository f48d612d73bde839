"""A clock that goes on like any other and can be moved ahead: for brokers that real clients use."""

import asyncio

from riverlog.runtime.clock import Clock, SystemClock


class ShiftedClock:
    """A `Clock` ahead of another one by what `advance_ms` has added. Use it from one event loop.

    Unlike a clock that stands still, it lets clients, which have clocks of their own, time out,
    back off and poll as they always do.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._sleepers: set[asyncio.Future[None]] = set()
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.ahead_ms

    def monotonic_ms(self) -> int:
        return self._clock.monotonic_ms() + self.ahead_ms

    async def sleep_ms(self, duration_ms: int) -> None:
        deadline_ms = self.monotonic_ms() + duration_ms
        loop = asyncio.get_running_loop()
        while (left_ms := deadline_ms - self.monotonic_ms()) > 0:
            moved = loop.create_future()
            self._sleepers.add(moved)
            timer = loop.call_later(left_ms / 1000, _wake, moved)
            try:
                await moved
            finally:
                timer.cancel()
                self._sleepers.remove(moved)
        if duration_ms <= 0:
            await asyncio.sleep(0)

    def advance_ms(self, duration_ms: int) -> None:
        """Moves both clocks ahead and wakes whoever is due by then, in the next turn of the loop.

        A periodic task has one round of all those that were skipped.
        """
        if duration_ms < 0:
            raise ValueError("time only moves on")
        self.ahead_ms += duration_ms
        for sleeper in self._sleepers:
            # Those who are not due find out themselves how long is left.
            _wake(sleeper)


def _wake(sleeper: "asyncio.Future[None]") -> None:
    if not sleeper.done():
        sleeper.set_result(None)
