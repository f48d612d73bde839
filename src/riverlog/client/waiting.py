"""How long to wait: deadlines, and pauses between tries."""

from riverlog.runtime.chance import Chance, jittered_ms
from riverlog.runtime.clock import Clock


class Deadline:
    """A moment until which something may take."""

    __slots__ = ("_clock", "_end_ms")

    def __init__(self, clock: Clock, timeout_ms: int) -> None:
        self._clock = clock
        self._end_ms = clock.monotonic_ms() + timeout_ms

    @property
    def left_ms(self) -> int:
        """What is left of the time, at least 0."""
        return max(0, self._end_ms - self._clock.monotonic_ms())

    @property
    def has_passed(self) -> bool:
        return self._clock.monotonic_ms() >= self._end_ms

    def left_s(self, limit_ms: int) -> float:
        """What is left of the time but no more than `limit_ms`, in seconds as asyncio wants it."""
        return min(self.left_ms, limit_ms) / 1000


class Backoff:
    """Pauses that double with every failure in a row, each a little shorter by chance."""

    __slots__ = ("_chance", "_failures", "_ms_max", "_ms_min")

    def __init__(self, chance: Chance, ms_min: int, ms_max: int) -> None:
        self._chance = chance
        self._ms_min = ms_min
        self._ms_max = ms_max
        self._failures = 0

    def next_ms(self) -> int:
        """How long to wait after another failure."""
        pause_ms = min(self._ms_min * 2 ** min(self._failures, 32), self._ms_max)
        self._failures += 1
        return jittered_ms(self._chance, pause_ms)

    def reset(self) -> None:
        """Begins with the shortest pause again, after a success."""
        self._failures = 0
