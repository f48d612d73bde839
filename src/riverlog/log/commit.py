"""Group commit: one round of syncs makes everything durable that was written before it."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from riverlog.log.journal import Journal
from riverlog.log.journal_frames import Entry
from riverlog.runtime.turns import is_last_of_turn
from riverlog.stores.syncer import Job, Outcome, Syncer

Told = Callable[[Outcome], None]

# From so many partitions on, one sync of the journal is quicker than theirs.
JOURNALED_PARTITIONS_MIN = 2
# More than this in one round is better written once, to the partitions' own files.
JOURNALED_BYTES_MAX = 1 << 20


class Committed(Protocol):
    """What has bytes to be made durable: a partition."""

    @property
    def is_awaited(self) -> bool:
        """Whether anybody waits for what was written to be durable, or to be there to read."""

    def begin_sync(self) -> tuple[Job, Told]:
        """The syncs to run for all that was written so far, and whom to tell how they ended."""

    def begin_entry(self) -> tuple[Entry, Told] | None:
        """What the journal has to keep for all that was written so far to be durable.

        None when the partition has to sync its own file.
        """


class GroupCommit:
    """Runs rounds for as long as anything is dirty; belongs to one event loop.

    What becomes dirty while a round runs waits for the next one. Everything that was read from
    all sockets in one turn of the loop shares a round. `before_telling` is called when a round
    has ended, and `after_round` when everyone has been told how.

    A lone partition syncs its own file. Of several, those with little to keep share one sync of
    the journal.
    """

    def __init__(self, syncer: Syncer, journal: Journal | None = None) -> None:
        self._syncer = syncer
        self._journal = journal
        self.before_telling: list[Callable[[], None]] = []
        self.after_round: list[Callable[[], None]] = []
        self._dirty: dict[int, Committed] = {}
        self._lone: Committed | None = None
        self._is_running = False
        self._is_due = False
        self._is_gathering = False
        self._is_scheduled = False
        self._idle: asyncio.Future[None] | None = None

    def request(self, partition: Committed) -> bool:
        """Has the partition synced in the next round.

        Says whether that begins with it, and is likely to be for it alone, as the last one was.
        """
        self._dirty[id(partition)] = partition
        if self._is_running or self._is_due:
            return False
        self._is_due = True
        if not self._is_gathering:
            self._schedule()
        return partition is self._lone

    def gather(self) -> None:
        """Schedules nothing before `begin_if_quiet`, which has to follow in this very callback.

        A round that is begun there leaves no empty turn of the loop behind.
        """
        self._is_gathering = True

    def begin_if_quiet(self) -> None:
        """Begins a round that is due at once when nothing else could still join it in this turn.

        A lone publisher is answered a turn of the loop earlier for it.
        """
        self._is_gathering = False
        if not self._is_due:
            return
        if is_last_of_turn(asyncio.get_running_loop(), own=int(self._is_scheduled)):
            self._begin_round()
        else:
            self._schedule()

    def forget(self, partition: Committed) -> None:
        """Leaves out a partition that is gone."""
        self._dirty.pop(id(partition), None)
        if self._lone is partition:
            self._lone = None

    async def idle(self) -> None:
        """Returns when nothing is dirty and no round runs."""
        while self._dirty or self._is_running:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._begin_scheduled)

    def _begin_scheduled(self) -> None:
        self._is_scheduled = False
        self._begin_round()

    def _begin_round(self) -> None:
        self._is_due = False
        if self._is_running or not self._dirty:
            self._tell_idle()
            return
        self._is_running = True
        dirty, self._dirty = list(self._dirty.values()), {}
        is_awaited = any(partition.is_awaited for partition in dirty)
        self._lone = dirty[0] if len(dirty) == 1 else None
        begun = self._begin(dirty)
        tell = [ended for _, ended in begun]

        def finished(outcomes: list[Outcome]) -> None:
            self._is_running = False
            for callback in self.before_telling:
                callback()
            try:
                for ended, outcome in zip(tell, outcomes, strict=True):
                    ended(outcome)
            finally:
                for callback in self.after_round:
                    callback()
            if self._dirty and not self._is_due:
                self._is_due = True
                self._schedule()
            self._tell_idle()

        self._syncer.run([job for job, _ in begun], finished, is_awaited=is_awaited)

    def _begin(self, dirty: list[Committed]) -> list[tuple[Job, Told]]:
        """The jobs of a round: one for the journal, if it pays, and one for every other file."""
        journal = self._journal
        if journal is None or len(dirty) < JOURNALED_PARTITIONS_MIN:
            return [partition.begin_sync() for partition in dirty]
        entries: list[Entry] = []
        tell: list[Told] = []
        own: list[Committed] = []
        room = JOURNALED_BYTES_MAX
        for partition in dirty:
            begun = partition.begin_entry() if room > 0 else None
            if begun is None:
                own.append(partition)
            else:
                entry, told = begun
                entries.append(entry)
                tell.append(told)
                room -= entry.size_bytes
        job = journal.write(entries) if len(entries) >= JOURNALED_PARTITIONS_MIN else None
        if job is None:
            return [partition.begin_sync() for partition in dirty]

        def ended(outcome: Outcome) -> None:
            if outcome is not None:
                journal.give_up_file()
            for told in tell:
                told(outcome)

        return [(job, ended), *(partition.begin_sync() for partition in own)]

    def _tell_idle(self) -> None:
        is_idle = not self._dirty and not self._is_running
        if is_idle and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)
