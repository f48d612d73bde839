"""When to look at what again: one sleeper for many deadlines."""

import heapq
import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from riverlog.runtime.clock import Clock
from riverlog.runtime.tasks import Supervisor


class Deadlines:
    """Calls back for each key no earlier than its deadline; the key is then forgotten.

    A deadline that moves on is not noted anew: whoever is called back too early looks, and notes
    the key again.
    """

    def __init__(self, clock: Clock, tasks: Supervisor, due: Callable[[str], None]) -> None:
        self._clock = clock
        self._tasks = tasks
        self._due = due
        self._by_key: dict[str, int] = {}
        self._queue: list[tuple[int, str]] = []
        self._sleepers: list[int] = []
        self._serials = itertools.count()

    def note(self, key: str, deadline_ms: int) -> None:
        """Calls back at the deadline at the latest, by the monotonic clock."""
        if self._by_key.get(key, deadline_ms + 1) <= deadline_ms:
            return
        self._by_key[key] = deadline_ms
        heapq.heappush(self._queue, (deadline_ms, key))
        self._have_a_sleeper(deadline_ms)

    def _have_a_sleeper(self, deadline_ms: int) -> None:
        if self._sleepers and self._sleepers[0] <= deadline_ms:
            return
        heapq.heappush(self._sleepers, deadline_ms)
        name = f"wait for groups {next(self._serials)}"
        self._tasks.start(name, partial(self._sleep_until, deadline_ms))

    async def _sleep_until(self, deadline_ms: int) -> None:
        left_ms = deadline_ms - self._clock.monotonic_ms()
        if left_ms > 0:
            await self._clock.sleep_ms(left_ms)
        # Once only: after a failure this runs again.
        with suppress(ValueError):
            self._sleepers.remove(deadline_ms)
            heapq.heapify(self._sleepers)
        now_ms = self._clock.monotonic_ms()
        while self._queue and self._queue[0][0] <= now_ms:
            noted_ms, key = heapq.heappop(self._queue)
            if self._by_key.get(key) == noted_ms:
                del self._by_key[key]
                self._due(key)
        if self._queue:
            self._have_a_sleeper(self._queue[0][0])
