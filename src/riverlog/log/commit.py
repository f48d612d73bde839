"""Group commit: one round of syncs makes everything durable that was written before it."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from riverlog.runtime.turns import is_last_of_turn
from riverlog.stores.syncer import Job, Outcome, Syncer


class Committed(Protocol):
    """What has bytes to be made durable: a partition."""

    def begin_sync(self) -> tuple[Job, Callable[[Outcome], None]]:
        """The syncs to run for all that was written so far, and whom to tell how they ended."""


class GroupCommit:
    """Runs rounds for as long as anything is dirty; belongs to one event loop.

    What becomes dirty while a round runs waits for the next one. Everything that was read from
    all sockets in one turn of the loop shares a round. `after_round` is called when everyone has
    been told how a round ended.
    """

    def __init__(self, syncer: Syncer) -> None:
        self._syncer = syncer
        self.after_round: list[Callable[[], None]] = []
        self._dirty: dict[int, Committed] = {}
        self._is_running = False
        self._is_due = False
        self._idle: asyncio.Future[None] | None = None

    def request(self, partition: Committed) -> None:
        """Has the partition synced in the next round."""
        self._dirty[id(partition)] = partition
        if not (self._is_running or self._is_due):
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._begin_round)

    def begin_if_quiet(self) -> None:
        """Begins a round that is due at once when nothing else could still join it in this turn.

        A lone publisher is answered a turn of the loop earlier for it.
        """
        if self._is_due and is_last_of_turn(asyncio.get_running_loop(), own=1):
            self._begin_round()

    def forget(self, partition: Committed) -> None:
        """Leaves out a partition that is gone."""
        self._dirty.pop(id(partition), None)

    async def idle(self) -> None:
        """Returns when nothing is dirty and no round runs."""
        while self._dirty or self._is_running:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle

    def _begin_round(self) -> None:
        self._is_due = False
        if self._is_running or not self._dirty:
            self._tell_idle()
            return
        self._is_running = True
        dirty, self._dirty = self._dirty, {}
        begun = [partition.begin_sync() for partition in dirty.values()]
        tell = [ended for _, ended in begun]

        def finished(outcomes: list[Outcome]) -> None:
            self._is_running = False
            for ended, outcome in zip(tell, outcomes, strict=True):
                ended(outcome)
            for callback in self.after_round:
                callback()
            if self._dirty and not self._is_due:
                self._is_due = True
                asyncio.get_running_loop().call_soon(self._begin_round)
            self._tell_idle()

        self._syncer.run([job for job, _ in begun], finished)

    def _tell_idle(self) -> None:
        is_idle = not self._dirty and not self._is_running
        if is_idle and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)
