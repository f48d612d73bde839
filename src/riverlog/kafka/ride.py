"""A connection's way through the express lane: how it gets on, and how it goes on afterwards."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    # It needs the C kernel, and is loaded when a first client could use it.
    from riverlog.kafka.express import Express


class Rider(Protocol):
    """The connection, as far as its ride is concerned."""

    has_asked: bool

    def go_on(self, rest: bytes, *, is_waiting: bool) -> None:
        """Reads again, beginning with `rest`; if it `is_waiting`, replies of the lane go first."""

    def go_on_replying(self) -> None:
        """The lane has no more replies."""

    def answer_apart(self, frame: bytes, told: Callable[[bytes], None]) -> None:
        """Answers a request, but tells the reply, a whole frame, to `told`."""

    def abort(self) -> None:
        """Breaks the connection at once."""


class Ride:
    """One connection in the lane, or not; see `Passenger` for what the lane calls.

    While it `is_on`, the lane alone reads from and writes to the socket. After that, replies may
    still come from it for what it has taken.
    """

    __slots__ = ("_express", "_express_of", "_number", "_rider", "_transport", "is_on")

    def __init__(self, rider: Rider, express_of: "Callable[[], Express | None]") -> None:
        self._rider = rider
        self._express_of = express_of
        self._express: Express | None = None
        self._number: int | None = None
        self.is_on = False

    def get_on(
        self, transport: asyncio.Transport, frame: bytes, header: bytes, version: int
    ) -> None:
        """Enters the lane if it may; `frame` is the last request, `header` that of all."""
        express = self._express_of()
        if express is None or transport.get_write_buffer_size():
            return
        descriptor = transport.get_extra_info("socket").fileno()
        number = express.enter(self, descriptor, frame, header, version)
        if number is not None:
            self._express, self._number, self._transport = express, number, transport
            self.is_on = True

    def get_off(self) -> None:
        """Leaves the lane if it is in there."""
        if self.is_on:
            assert self._express is not None
            assert self._number is not None
            self._express.leave(self._number)

    def end(self) -> None:
        """The connection is lost; its socket is still open."""
        self.is_on = False
        if self._express is not None and self._number is not None:
            self._express.forget(self._number)
            self._number = None

    # What the lane calls.

    def note_asked(self) -> None:
        self._rider.has_asked = True

    def left(self, rest: bytes, *, is_waiting: bool) -> None:
        self.is_on = False
        if not is_waiting:
            self._number = None
        self._rider.go_on(rest, is_waiting=is_waiting)

    def take_replies(self, data: bytes, *, is_last: bool) -> None:
        was_on = self.is_on
        if is_last:
            self._number = None
        if data and not self._transport.is_closing():
            self._transport.write(data)
        if was_on:
            self.left(b"", is_waiting=not is_last)
        elif is_last:
            self._rider.go_on_replying()

    def answer_apart(self, frame: bytes, told: Callable[[bytes], None]) -> None:
        self._rider.answer_apart(frame, told)

    def abort(self) -> None:
        self._rider.abort()
