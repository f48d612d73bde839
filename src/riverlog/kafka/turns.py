"""Turns at the loop: no connection keeps it for long while others want it, too.

A connection that has sent many requests at once is answered in slices. Requests that take long in
one piece, because they are large or their replies are, together take a small share of the time;
after each of them all such requests rest for a while. Neither matters to whoever is alone.
"""

import asyncio
from collections.abc import Callable

from riverlog.runtime.turns import call_patiently

# A part of what a small durable write takes: it waits for another's slice twice or three times.
SLICE_S = 0.000_1
# A slice while nobody else is about: whoever comes then waits no longer than a person notices.
LONE_SLICE_S = 0.005
# Whoever has asked within this time may well ask again.
ABOUT_S = 1.0
# A producer asks more often than this, a heartbeat does not.
BRIEF_S = 0.05

# Below this size no request takes long, nor does one whose reply is smaller.
HEAVY_BYTES = 16 << 10
# So many times as long as heavy requests took do they rest: others see fewer than one in a
# hundred of their own requests delayed.
REST_FACTOR = 15
REST_S_MAX = 5.0
# What opens sooner is hardly noticed, and what most producers send does.
LONG_OPENING_S = 0.001

_PRODUCE, _FETCH = b"\0\0", b"\0\1"


class Turns:
    """What all connections of a listener share of the loop's time; it belongs to one loop."""

    __slots__ = ("_brief_seen_s", "_holder", "_others_seen_s", "_rest_ends_s", "_small_seen_s")

    def __init__(self) -> None:
        self._holder: object = None
        self._others_seen_s = float("-inf")
        self._rest_ends_s = float("-inf")
        self._brief_seen_s = self._small_seen_s = float("-inf")

    def begin(self, holder: object, now_s: float) -> float:
        """Notes who has the loop now; gives the time at which it is to let others have it."""
        if holder is not self._holder:
            if self._holder is not None:
                self._others_seen_s = now_s
            self._holder = holder
        return now_s + (SLICE_S if self.is_shared(now_s) else LONE_SLICE_S)

    def is_shared(self, now_s: float) -> bool:
        """Whether more than one connection has been asking lately."""
        return now_s - self._others_seen_s < ABOUT_S

    def note_brief(self, now_s: float, *, is_small: bool = True) -> None:
        """Somebody has asked for something other than records, and waits for a brief answer.

        What is asked for in few bytes can be had soon, and whoever asks knows.
        """
        self._brief_seen_s = now_s
        if is_small:
            self._small_seen_s = now_s

    def wants_brief_replies(self, now_s: float) -> bool:
        """Whether somebody keeps asking for such things: records come in small replies then."""
        return now_s - self._brief_seen_s < BRIEF_S

    def note_heavy(self, took_s: float, now_s: float) -> None:
        """A heavy request has been answered; if others were about before it, the next ones rest."""
        if self.is_shared(now_s - took_s):
            self._rest_ends_s = now_s + min(took_s * REST_FACTOR, REST_S_MAX)

    def opening_rest_s(self, took_s: float, now_s: float) -> float:
        """How long to rest after a batch that took so long to open, if anybody keeps asking for
        small things meanwhile."""
        if took_s < LONG_OPENING_S or now_s - self._small_seen_s >= BRIEF_S:
            return 0.0
        return min(took_s * REST_FACTOR, REST_S_MAX)

    def rest_s(self, now_s: float) -> float:
        """How long heavy requests still have to wait; not above 0 when they may begin."""
        return self._rest_ends_s - now_s


class Pace:
    """How one connection takes its turns. `go_on` is called when it may start requests again."""

    __slots__ = ("_go_on", "_is_waiting", "_loop", "_now_s", "_turn_ends_s", "_turns", "_was_heavy")

    def __init__(
        self, turns: Turns, loop: asyncio.AbstractEventLoop, go_on: Callable[[], None]
    ) -> None:
        self._turns = turns
        self._loop = loop
        self._go_on = go_on
        self._is_waiting = False
        self._was_heavy = False
        self._now_s = self._turn_ends_s = 0.0

    def begin(self) -> None:
        """A turn begins."""
        self._now_s = self._loop.time()
        self._turn_ends_s = self._turns.begin(self, self._now_s)

    def may_start(self, frame: bytes) -> bool:
        """Whether a request may be started now; if not, `go_on` will be called."""
        delay_s = 0.0
        if self._now_s <= self._turn_ends_s:
            if not self._was_heavy and (len(frame) <= HEAVY_BYTES or not is_heavy(frame)):
                return True
            delay_s = self._turns.rest_s(self._now_s)
            if delay_s <= 0:
                return True
        if not self._is_waiting:
            self._is_waiting = True
            if delay_s > 0:
                self._loop.call_later(delay_s, self._end_wait)
            else:
                call_patiently(self._loop, self._end_wait)
        return False

    def started(self, frame: bytes, reply_bytes: int) -> None:
        """A request was started, and so much of a reply was made."""
        began_s, self._now_s = self._now_s, self._loop.time()
        if not frame.startswith(_FETCH):
            self._turns.note_brief(self._now_s, is_small=len(frame) <= HEAVY_BYTES)
        self._was_heavy = is_heavy(frame, reply_bytes)
        if self._was_heavy:
            self._turns.note_heavy(self._now_s - began_s, self._now_s)

    def _end_wait(self) -> None:
        self._is_waiting = False
        self._go_on()


def is_heavy(frame: bytes, reply_bytes: int = 0) -> bool:
    """Whether a request may take long. Records are cheap for their size, in and out."""
    if frame.startswith(_PRODUCE):
        return False
    if frame.startswith(_FETCH):
        reply_bytes = 0
    return len(frame) > HEAVY_BYTES or reply_bytes > HEAVY_BYTES
