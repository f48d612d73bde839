"""The replies that clients have not read yet: one bound for all of them together."""

from typing import Protocol


class Reader(Protocol):
    """A connection, as far as this is concerned."""

    @property
    def host(self) -> str:
        """Where its client is."""

    def abort(self) -> None:
        """Closes at once; what it has not read is gone."""


class UnreadReplies:
    """Which clients leave much unread, the one that has done so for longest first.

    Memory that waits for clients who do not read is freed by nobody else: when there is too much
    of it, those who have let it wait for longest are cut off.
    """

    __slots__ = ("_bytes_by_reader", "_bytes_max", "bytes_total")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes_by_reader: dict[Reader, int] = {}
        self.bytes_total = 0

    @property
    def room_bytes(self) -> int:
        """How much more may wait before somebody is cut off."""
        return max(self._bytes_max - self.bytes_total, 0)

    def note(self, reader: Reader, unread_bytes: int) -> list[Reader]:
        """Notes that so much waits for a client; gives those that are to be cut off for it."""
        self.forget(reader)
        self._bytes_by_reader[reader] = unread_bytes
        self.bytes_total += unread_bytes
        too_slow = []
        # The newest stays, however large: it has had no time to read yet.
        while self.bytes_total > self._bytes_max and len(self._bytes_by_reader) > 1:
            slowest = next(iter(self._bytes_by_reader))
            self.forget(slowest)
            too_slow.append(slowest)
        return too_slow

    def forget(self, reader: Reader) -> None:
        """It has read, or is gone."""
        self.bytes_total -= self._bytes_by_reader.pop(reader, 0)
