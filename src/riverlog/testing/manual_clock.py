"""A clock that stands still until a test moves it."""

import asyncio
import heapq
import itertools

# An ordinary moment (2026-01-01 UTC): large enough that a mix-up of clocks shows at once.
START_MS = 1_767_225_600_000


class ManualClock:
    """A `Clock` that only `advance_ms` and `jump_wall_ms` move. Use it from one event loop."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self._now_ms = now_ms
        self._monotonic_ms = 0
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._watchers: list[tuple[int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    async def sleep_ms(self, duration_ms: int) -> None:
        if duration_ms <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        deadline_ms = self._monotonic_ms + duration_ms
        heapq.heappush(self._sleepers, (deadline_ms, next(self._order), woken))
        self._tell_watchers()
        await woken

    def advance_ms(self, duration_ms: int) -> None:
        """Moves both clocks on and wakes everyone due, in order of their deadlines.

        The woken run at the next turn of the loop and all see the new time. One that sleeps again
        does so from there: to see every round of a periodic task, advance one period at a time.
        """
        if duration_ms < 0:
            raise ValueError("time only moves on; jump_wall_ms moves the wall clock back")
        self._now_ms += duration_ms
        self._monotonic_ms += duration_ms
        while self._sleepers and self._sleepers[0][0] <= self._monotonic_ms:
            _, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)

    def jump_wall_ms(self, offset_ms: int) -> None:
        """Sets the wall clock forwards or back; deadlines and sleepers do not notice."""
        self._now_ms += offset_ms

    @property
    def sleeper_count(self) -> int:
        """How many sleep now."""
        return sum(not woken.done() for _, _, woken in self._sleepers)

    async def until_asleep(self, count: int = 1) -> None:
        """Returns once at least `count` sleep, so that advancing will not come too early."""
        if self.sleeper_count < count:
            seen = asyncio.get_running_loop().create_future()
            self._watchers.append((count, seen))
            await seen

    def _tell_watchers(self) -> None:
        sleeping = self.sleeper_count
        for count, seen in self._watchers:
            if count <= sleeping and not seen.done():
                seen.set_result(None)
        self._watchers = [(count, seen) for count, seen in self._watchers if not seen.done()]
