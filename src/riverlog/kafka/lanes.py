"""The express lanes of a listener: one, made for the first who could use it, as a rule."""

from typing import TYPE_CHECKING

from riverlog.broker.broker import Broker
from riverlog.config import DoorLimits
from riverlog.kafka.budget import Budget
from riverlog.kafka.flushing import Flushing

if TYPE_CHECKING:
    from riverlog.kafka.express import Express


class Lanes:
    """Gives every newcomer the lane to enter. One that is full is followed by another, and goes
    when its last passenger has left; so does one that knows topics which are deleted."""

    def __init__(
        self,
        broker: Broker,
        limits: DoorLimits,
        budget: Budget,
        flushing: Flushing,
        *,
        is_wanted: bool,
    ) -> None:
        self._broker = broker
        self._limits = limits
        self._budget = budget
        self._flushing = flushing
        self._open: list[Express] = []
        self._can_be = is_wanted
        self._taken_before = 0

    def current(self) -> "Express | None":
        """The lane to enter; None where the C kernel was not built, or has no memory."""
        if self._open and not self._open[-1].is_full:
            return self._open[-1]
        if not self._can_be:
            return None
        # Here, because loading it takes longer than a broker may take to start.
        from riverlog.kafka.express import Express
        from riverlog.kernel.express import is_available

        self._can_be = is_available()
        if not self._can_be:
            return None
        try:
            lane = Express(self._broker, self._limits, self._budget, self._flushing)
        except MemoryError:
            return None
        self._open.append(lane)
        return lane

    def descriptors(self) -> list[int]:
        """What it has open."""
        return [lane.descriptor for lane in self._open]

    @property
    def taken_count(self) -> int:
        """How many requests went through lanes so far."""
        return self._taken_before + sum(lane.taken_count for lane in self._open)

    def note_who_asked(self) -> None:
        """Tells passengers that they have sent something since the last time; drops old lanes."""
        for lane in list(self._open):
            lane.note_who_asked()
            if lane.is_empty and (lane.is_full or lane.knows_deleted):
                self._open.remove(lane)
                self._taken_before += lane.taken_count
                lane.close()

    def close(self) -> None:
        """Ends all lanes."""
        for lane in self._open:
            lane.close()
        self._open = []
        self._can_be = False
