"""The turns of the event loop, as far as one can tell."""

import asyncio


def is_last_of_turn(loop: asyncio.AbstractEventLoop, own: int) -> bool:
    """Whether nothing but `own` callbacks of the caller's is waiting to run in this loop.

    asyncio keeps what is ready in a queue that has no public name; a loop without one says no,
    and whoever asks then waits for the next turn.
    """
    ready = getattr(loop, "_ready", None)
    return ready is not None and len(ready) <= own
