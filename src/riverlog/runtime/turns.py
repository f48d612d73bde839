"""The turns of the event loop, as far as one can tell."""

import asyncio
from collections.abc import Callable


class Patient:
    """A callback that nobody needs to wait for."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback

    def __call__(self) -> None:
        self._callback()


def call_patiently(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Calls back in the next turn, after what has come in by then.

    `is_last_of_turn` does not count it.
    """
    # Timers that are due come behind what sockets have brought; `call_soon` would come before.
    loop.call_later(0, Patient(callback))


def is_last_of_turn(loop: asyncio.AbstractEventLoop, own: int) -> bool:
    """Whether nothing but `own` callbacks of the caller's is waiting to run in this loop.

    asyncio keeps what is ready in a queue that has no public name; a loop without one says no,
    and whoever asks then waits for the next turn.
    """
    ready = getattr(loop, "_ready", None)
    if ready is None:
        return False
    count = 0
    for handle in ready:
        if not isinstance(getattr(handle, "_callback", None), Patient):
            count += 1
            if count > own:
                return False
    return True
