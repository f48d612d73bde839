"""Answers that are not ready yet, answers that are bytes already, and no answer at all."""

from collections.abc import Callable
from typing import Any

from riverlog.protocol.wire import Buffer


class HangUp(Exception):
    """The client's connection shall break, with no answer and no word about it in the log."""


class Encoded:
    """A message in the form it is sent in, header and length prefix apart."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Buffer]) -> None:
        self.parts = parts


class Later:
    """A reply that comes later: what a future is, without a turn of the loop for each.

    One group commit finishes many of these, and whoever waits is told within `finish`.
    """

    __slots__ = ("_told", "answer", "is_done")

    def __init__(self) -> None:
        self._told: Callable[[Any], None] | None = None
        self.answer: Any = None
        self.is_done = False

    def tell(self, told: Callable[[Any], None]) -> None:
        """Calls `told` with the answer when there is one; for whoever asks before `finish`."""
        assert not self.is_done, "look at the answer instead"
        self._told = told

    def finish(self, answer: Any) -> None:
        """Gives the answer: a message, or `Encoded`."""
        self.answer = answer
        self.is_done = True
        if self._told is not None:
            self._told(answer)

    def cancel(self) -> None:
        """Nobody waits for it any more; what it waits for happens all the same."""
        self._told = None


class Parked:
    """A request that is looked at again whenever something has happened, until it has an answer.

    Whoever waits is only told to look, and does so when everything else that happened with it is
    done: what came together is answered together.
    """

    __slots__ = ("_leave", "_look", "_woken")

    def __init__(self, look: Callable[[], Any], leave: Callable[[], None]) -> None:
        """`look` gives the answer, None while there is none; `leave` is called when it is over."""
        self._look = look
        self._leave = leave
        self._woken: Callable[[], None] | None = None

    def tell(self, woken: Callable[[], None]) -> None:
        """Calls `woken` whenever it is time to `look`."""
        self._woken = woken

    def wake(self) -> None:
        """Something has happened."""
        if self._woken is not None:
            self._woken()

    def look(self) -> Any:
        """The answer, with which the wait is over; or None as long as there is none."""
        answer = self._look()
        if answer is not None:
            self.cancel()
        return answer

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        self._woken = None
        self._leave()
