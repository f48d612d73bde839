"""Checking a segment out of the loop's way, before anything of it is served."""

import asyncio
from collections.abc import Callable

from riverlog.log.reading import Reader
from riverlog.log.segment import Segment
from riverlog.log.verification import Verified, verify
from riverlog.stores.handles import Handles
from riverlog.stores.syncer import Outcome, Syncer, attempt


def check_apart(
    segment: Segment,
    reader: Reader,
    handles: Handles,
    syncer: Syncer,
    is_wanted: Callable[[], bool],
) -> asyncio.Future[None]:
    """Reads the unverified part of a segment in a thread; done when `reader` knows the result.

    If it `is_wanted` no more by then, the result is dropped. Raises `OSError`, at once or from
    the future; a read then checks for itself, and says so.
    """
    assert segment.unverified is not None, "there is nothing to check"
    size, holes = segment.unverified[0], list(segment.holes)
    file = handles.lend(segment.path)
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    found: list[Verified] = []

    def ended(outcomes: list[Outcome]) -> None:
        handles.give_back(segment.path)
        outcome = outcomes[0]
        if found and is_wanted():
            outcome = attempt(lambda: reader.settle(segment, found[0]))
        if ready.done():
            return
        if outcome is None:
            ready.set_result(None)
        else:
            ready.set_exception(outcome)

    syncer.run_apart(lambda: found.append(verify(file, size, holes)), ended)
    return ready
