"""What all connections of a listener share: how many there are, and the bytes they may take."""

from collections import deque
from collections.abc import Callable

from riverlog.config import DoorLimits


class Budget:
    """Counts bytes and connections; whoever must wait for room is called back when there is some.

    It belongs to one event loop. Requests being answered always free their bytes in the end, so
    waiting for them is safe; unfinished requests may never be finished, so they are not waited
    for but refused.
    """

    __slots__ = ("_limits", "_waiting", "bytes_held", "bytes_in_flight", "connections")

    def __init__(self, limits: DoorLimits) -> None:
        self._limits = limits
        self._waiting: deque[Callable[[], None]] = deque()
        self.connections = 0
        self.bytes_in_flight = 0
        self.bytes_held = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether reading must stop until requests under way have been answered."""
        return self.bytes_in_flight > self._limits.bytes_in_flight_max

    @property
    def has_room_for_connection(self) -> bool:
        return self.connections < self._limits.connections_max

    @property
    def holds_too_much(self) -> bool:
        """Whether the unfinished requests together are beyond their bound."""
        return self.bytes_held > self._limits.bytes_held_max

    def take(self, request_bytes: int) -> None:
        self.bytes_in_flight += request_bytes

    def release(self, request_bytes: int) -> None:
        self.bytes_in_flight -= request_bytes
        while self._waiting and not self.is_exhausted:
            self._waiting.popleft()()

    def when_there_is_room(self, callback: Callable[[], None]) -> None:
        """Calls back once, when `is_exhausted` has ended."""
        self._waiting.append(callback)
