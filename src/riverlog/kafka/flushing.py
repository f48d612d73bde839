"""Which connections have replies to send: all of them are written when a commit ends."""

import asyncio
from typing import Protocol


class Flushed(Protocol):
    """A connection, as far as this is concerned."""

    def start_and_flush(self) -> None:
        """Sends the replies that are ready, and goes on with what waited for them."""


class Flushing:
    """The connections of one listener that have something to send, each named once.

    They are flushed when a group commit ends, in the same turn of the loop; those whose replies
    come from elsewhere at the latest in the next turn.
    """

    __slots__ = ("_due", "_is_expected", "_is_scheduled")

    def __init__(self) -> None:
        self._due: list[Flushed] = []
        self._is_expected = False
        self._is_scheduled = False

    def expect(self) -> None:
        """Says that `flush` will be called in this very callback."""
        self._is_expected = True

    def add(self, connection: Flushed) -> None:
        """Has the connection flushed soon; it is to be added again only after that."""
        self._due.append(connection)
        if not (self._is_scheduled or self._is_expected):
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush_rest)

    def flush(self) -> None:
        """Flushes all that are due, now."""
        self._is_expected = False
        due, self._due = self._due, []
        for connection in due:
            connection.start_and_flush()

    def _flush_rest(self) -> None:
        self._is_scheduled = False
        self.flush()
