"""What all connections of a listener share: how many there are, and the bytes they may take."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable

from riverlog.config import DoorLimits
from riverlog.kafka.door_log import DoorLog
from riverlog.kafka.sending import Pieces
from riverlog.kafka.turns import Turns
from riverlog.kafka.unread_replies import UnreadReplies
from riverlog.runtime.logs import get

log = get(__name__)

# What is read and written in a fraction of a millisecond.
BRIEF_FETCH_BYTES_MAX = 256 << 10
# A single reply takes no more than this part of the room that is left for those unread.
_PART_OF_ROOM = 4


class Budget:
    """Counts bytes and connections; whoever must wait for room is called back when there is some.

    It belongs to one event loop. Requests being answered always free their bytes in the end, so
    waiting for them is safe; unfinished requests may never be finished, so they are not waited
    for but refused.
    """

    __slots__ = (
        "_by_host", "_limits", "_waiting", "bytes_held", "bytes_in_flight", "connections", "log",
        "pieces", "turns", "unread",
    )  # fmt: skip

    def __init__(self, limits: DoorLimits) -> None:
        self._limits = limits
        self._waiting: deque[Callable[[], None]] = deque()
        self.connections = 0
        self.bytes_in_flight = 0
        self.bytes_held = 0
        self.log = DoorLog(log)
        self.turns = Turns()
        self.pieces = Pieces(self._wants_brief_replies, _now_s)
        self.unread = UnreadReplies(limits.unread_replies_bytes_max)
        self._by_host: Counter[str] = Counter()

    @property
    def is_exhausted(self) -> bool:
        """Whether reading must stop until requests under way have been answered."""
        return self.bytes_in_flight > self._limits.bytes_in_flight_max

    def admit(self, host: str) -> bool:
        """Counts a client from this address in, or says that there is no room for it."""
        if self.connections >= self._limits.connections_max:
            return False
        if self._by_host[host] >= self._limits.connections_per_ip_max:
            return False
        self.connections += 1
        self._by_host[host] += 1
        return True

    def dismiss(self, host: str) -> None:
        """Counts a client out that was counted in."""
        self.connections -= 1
        self._by_host[host] -= 1
        if not self._by_host[host]:
            del self._by_host[host]

    def fetch_bytes_max(self) -> int:
        """How large the reply to a Fetch may be now."""
        if self._wants_brief_replies():
            return min(BRIEF_FETCH_BYTES_MAX, self._limits.fetch_bytes_max)
        return min(self.unread.room_bytes // _PART_OF_ROOM, self._limits.fetch_bytes_max)

    def _wants_brief_replies(self) -> bool:
        return self.turns.wants_brief_replies(_now_s())

    def opening_rest_s(self, took_s: float) -> float:
        """How long to rest after a batch that took so long to open."""
        return self.turns.opening_rest_s(took_s, _now_s())

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


def _now_s() -> float:
    return asyncio.get_running_loop().time()
