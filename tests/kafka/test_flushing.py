"""Connections with something to send are flushed with a commit, or else in the next turn."""

import asyncio

from riverlog.kafka.flushing import Flushing


class Noting:
    """A connection that counts."""

    def __init__(self) -> None:
        self.flushed = 0

    def start_and_flush(self) -> None:
        self.flushed += 1


async def test_what_no_commit_flushes_is_flushed_in_the_next_turn() -> None:
    flushing, connection = Flushing(), Noting()
    flushing.add(connection)
    assert connection.flushed == 0
    await asyncio.sleep(0)
    assert connection.flushed == 1


async def test_what_a_commit_flushes_leaves_no_turn_behind() -> None:
    flushing, connection = Flushing(), Noting()
    flushing.expect()
    flushing.add(connection)
    flushing.flush()
    assert connection.flushed == 1
    assert not asyncio.get_running_loop()._ready  # type: ignore[attr-defined]  # asyncio's own


async def test_what_is_added_while_others_are_flushed_comes_in_the_next_turn() -> None:
    flushing, last = Flushing(), Noting()

    class Adding:
        def start_and_flush(self) -> None:
            flushing.add(last)

    flushing.expect()
    flushing.add(Adding())
    flushing.flush()
    assert last.flushed == 0
    await asyncio.sleep(0)
    assert last.flushed == 1
