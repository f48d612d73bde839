"""Large replies, sent piece by piece while others wait for brief ones.

What a socket takes at once may be megabytes, and to hand them over takes as long as several small
requests. So it takes several turns of the loop to send a large reply, and no longer in each when
there are several. What a client does not read as fast waits in its transport, as all replies do.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from riverlog.kafka.gathering import write_gathered
from riverlog.protocol.wire import Buffer
from riverlog.runtime.turns import call_patiently

# Handed to the system in a part of what a small durable write takes.
PIECE_BYTES = 128 << 10
# What all pieces may take of a turn beyond one: a part of what the turn takes without them.
PART_OF_TURN = 0.25
SENDING_S_MAX = 0.000_5


class Sender(Protocol):
    """A connection, as far as this is concerned."""

    def pause_writing(self) -> None:
        """More waits to be sent than should."""

    def resume_writing(self) -> None:
        """It was sent."""


class Pieces:
    """Those who have pieces to send, on all connections of a listener.

    In a turn of the loop one of them sends one; more do, each in its turn, when turns are long
    anyway: all pieces together take a small part of the time.
    """

    __slots__ = ("_are_wanted", "_ended_s", "_now_s", "_waiting")

    def __init__(self, are_wanted: Callable[[], bool], now_s: Callable[[], float]) -> None:
        """`are_wanted` tells whether anybody would have to wait for a large reply."""
        self._are_wanted = are_wanted
        self._now_s = now_s
        self._ended_s = 0.0
        self._waiting: deque[Sending] = deque()

    @property
    def are_wanted(self) -> bool:
        return self._are_wanted()

    def add(self, sending: "Sending") -> None:
        """Lets it send a piece a turn, as long as it has any."""
        self._waiting.append(sending)
        if len(self._waiting) == 1:
            self._ended_s = self._now_s()
            self._go_on()

    def _go_on(self) -> None:
        call_patiently(asyncio.get_running_loop(), self._send_some)

    def _send_some(self) -> None:
        began_s = self._now_s()
        until_s = began_s + min((began_s - self._ended_s) * PART_OF_TURN, SENDING_S_MAX)
        try:
            while self._waiting:
                self._send_one()
                if self._now_s() >= until_s:
                    break
        finally:
            self._ended_s = self._now_s()
            if self._waiting:
                self._go_on()

    def _send_one(self) -> None:
        # It stays in front until it has sent: whoever has more to send by then comes last.
        first, has_more = self._waiting[0], False
        try:
            has_more = first.send_piece()
        finally:
            self._waiting.popleft()
            if has_more:
                self._waiting.append(first)


class Sending:
    """What one connection has to send."""

    __slots__ = ("_pieces", "_rest", "_sender", "_transport")

    def __init__(self, transport: asyncio.Transport, sender: Sender, pieces: Pieces) -> None:
        self._transport = transport
        self._sender = sender
        self._pieces = pieces
        self._rest: deque[memoryview] = deque()

    @property
    def unsent_bytes(self) -> int:
        """How much the system has not taken yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._rest))

    def send(self, parts: Sequence[Buffer]) -> None:
        """Sends `parts`, which stay as they are, after all that was sent before.

        The sender may be paused by this.
        """
        if self._rest:
            self._rest.append(memoryview(b"".join(parts)))
            return
        is_large = sum(map(len, parts)) > PIECE_BYTES
        if not is_large or self._transport.get_write_buffer_size() or not self._pieces.are_wanted:
            write_gathered(self._transport, parts)
            return
        self._rest.extend(map(memoryview, parts))
        self._sender.pause_writing()
        self._pieces.add(self)

    def send_piece(self) -> bool:
        """Sends some of what waits; whether there is more."""
        transport = self._transport
        if transport.is_closing():
            self._rest.clear()
        if not self._rest:
            return False
        write_gathered(transport, self._next_piece())
        if transport.get_write_buffer_size():
            self._hand_over()
        if self._rest:
            return True
        if transport.get_write_buffer_size() <= transport.get_write_buffer_limits()[1]:
            self._sender.resume_writing()
        return False

    def close(self) -> None:
        """Closes once everything has been sent."""
        self._hand_over()
        self._transport.close()

    def _next_piece(self) -> list[Buffer]:
        piece: list[Buffer] = []
        room = PIECE_BYTES
        while self._rest and room:
            part = self._rest.popleft()
            if len(part) > room:
                self._rest.appendleft(part[room:])
                part = part[:room]
            piece.append(part)
            room -= len(part)
        return piece

    def _hand_over(self) -> None:
        """Leaves the rest to the transport."""
        while self._rest:
            self._transport.write(self._rest.popleft())
