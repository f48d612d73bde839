"""The end of a log: the segment being written, and how what is written becomes durable."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from riverlog.log.backing import Backing
from riverlog.log.batches import Stretch
from riverlog.log.checkpoint import Checkpoint
from riverlog.log.checkpointer import Checkpointer, owed_bytes
from riverlog.log.journal_frames import Entry
from riverlog.log.mending import close_at, saved, seal_at
from riverlog.log.recovery import Recovered
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared
from riverlog.log.tail import Mark, Tail, is_full, mark_of, new_tail
from riverlog.log.waiting import Waiting
from riverlog.records.batch import BatchHeader
from riverlog.records.crc import Buffer
from riverlog.stores.syncer import Job, Outcome, attempt


class Owner(Protocol):
    """The partition, as far as its end is concerned."""

    settings: LogSettings
    waiting: Waiting

    def became_durable(self, end_offset: int) -> None:
        """Everything before `end_offset` is durable now."""

    def failed(self, error: OSError) -> None:
        """What is not durable by now never will be."""

    def begin_again(self) -> None:
        """Makes its state again from what the files have kept; raises `OSError`."""

    def checkpoint_at(self, mark: Mark) -> Checkpoint:
        """Its state at `mark`, the end of all that was written."""


class Ending:
    """Writes to the last of `segments`, and to new ones; belongs to one event loop.

    `next_offset` is the end of what has been written, `high_watermark` of what is durable: in the
    files, or in the journal. `failure` is that of a sync, until `mend` succeeds.
    """

    def __init__(
        self,
        owner: Owner,
        shared: Shared,
        directories: Sequence[str],
        found: Recovered,
        journal_key: bytes,
    ) -> None:
        self._owner = owner
        self._shared = shared
        self._directories = list(directories)
        self._segments = found.segments
        self.next_offset = self.high_watermark = found.next_offset
        owed = owed_bytes(found.segments, found.checkpoint)
        covered_offset = 0 if found.checkpoint is None else found.checkpoint.next_offset
        self._checkpoints = Checkpointer(
            shared.disk, shared.syncer, directories[-1], owed, covered_offset
        )
        self._tail: Tail | None = None
        last = self._segments[-1] if self._segments else None
        if last is not None and not last.is_sealed and last.next_offset == self.next_offset:
            self._tail = Tail(last, shared.handles, last.size_bytes)
        # What is durable, and what its own file has kept: the journal may hold the difference.
        self._durable = self._synced = self._tail.mark() if self._tail else None
        self._backing: Backing | None = None
        if shared.journal is not None and journal_key:
            self._backing = Backing(shared.journal, journal_key, self, shared.handles)
            self._backing.begin_segment(self._tail.segment.size_bytes if self._tail else 0)
        self._unsynced_directories: list[str] = []
        self.failure: OSError | None = None
        self._is_syncing = False
        self._is_sync_due = False
        self._is_roll_due = False
        self._is_abandoned = False
        self.is_closed = False

    # Writing.

    def write(self, start: Buffer, rest: Buffer, header: BatchHeader, now_ms: int) -> None:
        """Hands a batch, in two parts, to the operating system and asks for it to be synced.

        Raises `OSError`; nothing has changed then.
        """
        self._tail_for(header.size_bytes, now_ms).write((start, rest), header)
        self._wrote(start, rest, header)

    def write_all(self, data: Buffer, stretch: Stretch, now_ms: int) -> None:
        """The same for batches that follow one another."""
        self._tail_for(stretch.size_bytes, now_ms).write_all(data, stretch)
        self._wrote(b"", data, stretch)

    def _wrote(self, start: Buffer, rest: Buffer, written: BatchHeader | Stretch) -> None:
        if self._backing is not None:
            self._backing.wrote(written.size_bytes, start, rest)
        self._checkpoints.owed_bytes += written.size_bytes
        self.next_offset = written.next_offset
        if self._shared.commit.request(self) and self._tail is not None:
            self._tail.write_out()

    @property
    def visible_bytes(self) -> int:
        """How much of the last segment is durable, and may be read."""
        if self._tail is None:
            return self._segments[-1].size_bytes
        durable = self._of_tail(self._durable)
        return durable.size_bytes if durable is not None else 0

    def _tail_for(self, size_bytes: int, now_ms: int) -> Tail:
        """The tail to write to: the present one, or a new one when that is full or broken."""
        settings = self._owner.settings
        if self._tail is not None and is_full(self._tail.segment, size_bytes, now_ms, settings):
            # Of two syncs of one file at a time, only one would learn of a failure.
            self._is_roll_due = self._is_syncing
            if not self._is_syncing:
                self._roll(self._tail)
        if self._tail is None:
            self._tail = self._create_tail()
        segment = self._tail.segment
        segment.last_append_ms = now_ms
        if segment.first_append_ms < 0:
            segment.first_append_ms = now_ms
        return self._tail

    def _create_tail(self) -> Tail:
        shared, is_first = self._shared, not self._segments
        tail = new_tail(shared.disk, shared.handles, self._directories, self.next_offset, is_first)
        # Names from the innermost outwards: each directory is found only through the next.
        self._unsynced_directories = self._directories[::-1] if is_first else self._directories[-1:]
        self._segments.append(tail.segment)
        if self._backing is not None:
            self._backing.begin_segment(0)
        return tail

    def _roll_now(self) -> None:
        """Makes up for a roll that had to wait; if it fails, the next append tries again."""
        self._is_roll_due = False
        if self._tail is not None:
            with suppress(OSError):
                self._roll(self._tail)

    def _roll(self, tail: Tail) -> None:
        """Closes the tail. It is durable before a newer file exists, so order needs no care."""
        self._sync_now(tail)
        # After an error the seal may be there or not; behind one nothing may be written, and
        # without one recovery makes it.
        with suppress(OSError):
            seal_at(self._shared.disk, tail.mark(), tail.segment.next_offset)
        tail.segment.is_sealed = True
        self._tail = None

    def begin_anew(self) -> bool:
        """Goes on in a new, empty segment, so that all others may go; raises `OSError`.

        The name of the new one keeps the next offset. False, and nothing has changed, as long as
        the file being written has not kept everything.
        """
        tail = self._tail
        if tail is not None:
            is_kept = self._synced == tail.mark() and not self._is_syncing
            if not is_kept or self.failure is not None:
                self.want_checkpoint()
                return False
            tail.trim()
        self._tail = self._create_tail()
        if tail is not None:
            tail.segment.is_sealed = True
        return True

    # Checkpoints.

    @property
    def covered_offset(self) -> int:
        """What stands before it, a durable checkpoint tells of."""
        return self._checkpoints.covered_offset

    def want_checkpoint(self) -> None:
        """Has the file synced, and a checkpoint written of what was written so far."""
        self._checkpoints.is_wanted = True
        if self._tail is not None and not self._tail.is_empty:
            self._shared.commit.request(self)
            return
        full = [segment for segment in self._segments if segment.size_bytes]
        if full and self.failure is None and self._checkpoints.is_due(1):
            checkpoint = self._owner.checkpoint_at(mark_of(full[-1]))
            self._checkpoints.keep(checkpoint, self._checkpoints.owed_bytes)

    # Durability.

    @property
    def is_awaited(self) -> bool:
        """Part of a round of group commit; see `Committed`."""
        return self._owner.waiting.is_anybody

    @property
    def is_under_way(self) -> bool:
        """Whether something was written of which it is still open whether it becomes durable."""
        if self.failure is not None or self._is_abandoned or self._tail is None:
            return False
        return self.high_watermark < self._tail.segment.next_offset

    def begin_sync(self) -> tuple[Job, Callable[[Outcome], None]]:
        """Part of a round of group commit; see `Committed`."""
        if self._tail is None or self._tail.is_empty or self.failure is not None:
            return _nothing, _ignored
        if self._is_abandoned:
            return _nothing, _ignored
        if self._is_syncing:
            # Of two syncs of one file at a time, only one would learn of a failure.
            self._is_sync_due = True
            return _nothing, _ignored
        shared, mark = self._shared, self._tail.mark()
        path = mark.segment.path
        journal_number = 0 if self._backing is None else self._backing.number
        try:
            file = shared.handles.lend(path)
        except OSError as error:
            self._sync_failed(error)
            return _nothing, _ignored
        directories, self._unsynced_directories = self._unsynced_directories, []
        checkpoint = None
        owed = self._checkpoints.owed_bytes
        if not self.is_closed and self._checkpoints.is_due(self._owner.settings.checkpoint_bytes):
            # Taken now: by the time the sync ends, more will have been written.
            checkpoint = self._owner.checkpoint_at(mark)
        self._is_syncing = True

        def job() -> None:
            file.sync()
            for directory in directories:
                shared.disk.sync_directory(directory)

        def ended(outcome: Outcome) -> None:
            self._is_syncing = False
            shared.handles.give_back(path)
            if self._is_abandoned:
                return  # The file is gone, or about to go.
            if self._is_sync_due:
                self._is_sync_due = False
                shared.commit.request(self)
            if mark.next_offset > mark.segment.next_offset:
                return  # The file was given up while it was synced.
            if outcome is not None:
                self._unsynced_directories = directories + self._unsynced_directories
                self._sync_failed(outcome)
                return
            self._synced = mark
            self._made_durable(mark)
            if self._backing is not None and self._durable is not None:
                self._backing.synced_to(mark, self._durable, journal_number)
            if checkpoint is not None:
                self._checkpoints.keep(checkpoint, owed)
            if self._is_roll_due:
                self._roll_now()

        return job, ended

    def begin_entry(self) -> tuple[Entry, Callable[[Outcome], None]] | None:
        """Part of a frame of the journal; see `Committed`."""
        backing, tail, synced = self._backing, self._tail, self._of_tail(self._synced)
        # The name of a file and its beginning are never in the journal alone.
        if backing is None or tail is None or self.failure is not None:
            return None
        if synced is None or not synced.size_bytes or self._checkpoints.is_wanted:
            return None
        entry = backing.entry(tail.segment)
        if entry is None:
            return None
        mark, number = tail.mark(), backing.number

        def ended(outcome: Outcome) -> None:
            segment = mark.segment
            if self._is_abandoned or mark.next_offset <= self.high_watermark:
                return
            if mark.next_offset > segment.next_offset:
                return  # The file was given up in the meantime.
            if outcome is None:
                outcome = attempt(lambda: backing.lean(segment, number))
            if outcome is None:
                self._made_durable(mark)
            else:
                backing.refuse()
                self._shared.commit.request(self)

        return entry, ended

    def _sync_now(self, tail: Tail) -> None:
        """Gives back what was filled ahead and waits for the disk; raises `OSError`."""
        assert not self._is_syncing, "the file is being synced already"
        job, ended = self.begin_sync()
        try:
            if self.failure is not None:
                raise self.failure
            tail.trim()
            job()
        except OSError as error:
            ended(error)
            raise
        ended(None)

    def _made_durable(self, mark: Mark) -> None:
        if mark.next_offset <= self.high_watermark or self.failure is not None:
            return
        self._durable = mark
        if self._backing is not None:
            self._backing.durable_to(mark.size_bytes)
        self.high_watermark = mark.next_offset
        if self._tail is not None and self.high_watermark == self.next_offset:
            self._tail.let_go()
        self._owner.became_durable(self.high_watermark)

    def _sync_failed(self, error: OSError) -> None:
        """A failed sync is final for the file: nothing written to it since is ever counted on."""
        self.failure = error
        if self._tail is not None:
            self._tail.let_go()
        self._owner.failed(error)

    def mend(self) -> None:
        """Seals a broken file at its last synced place; the log goes on in a new one.

        What only the journal kept is saved into a file of its own. The offsets behind it were
        given away, and stay unused. Raises `OSError` while the disk still refuses; it can be
        tried again then.
        """
        if self.failure is None or self._is_abandoned:
            return
        assert self._tail is not None
        segment, disk = self._tail.segment, self._shared.disk
        nothing = Mark(segment, 0, segment.base_offset, 0, 0)
        synced = self._of_tail(self._synced) or nothing
        durable = self._of_tail(self._durable) or nothing
        rescued = None
        if durable.size_bytes > synced.size_bytes:
            assert self._backing is not None
            data, start = self._backing.rescued(synced, durable), synced.next_offset
            seal_at(disk, synced, resume_offset=start)
            rescued = saved(disk, self._directories[-1], start, data, self.next_offset)
        else:
            seal_at(disk, synced, self.next_offset)
        for directory in self._unsynced_directories:
            disk.sync_directory(directory)
        self._unsynced_directories = []
        self._owner.begin_again()
        close_at(synced)
        if rescued is not None:
            self._segments.append(rescued)
            self._durable = self._synced = mark_of(rescued)
        if self._backing is not None:
            self._backing.stand()
        self._tail = None
        self.failure = None

    def _of_tail(self, mark: Mark | None) -> Mark | None:
        if self._tail is None or mark is None or mark.segment is not self._tail.segment:
            return None
        return mark

    # The end of the end.

    def close(self) -> None:
        """Makes everything durable and leaves a checkpoint at the very end; raises `OSError`."""
        self.is_closed = True
        # What cannot be saved now, the journal keeps for the next start.
        with suppress(OSError):
            self.mend()
        if self.failure is not None:
            return
        if self._tail is not None:
            self._sync_now(self._tail)
        if self._segments and self._checkpoints.owed_bytes:
            # A full disk has no room for it; then the next recovery has more to do.
            with suppress(OSError):
                last = self._owner.checkpoint_at(mark_of(self._segments[-1]))
                self._checkpoints.keep_last(last)

    def abandon(self) -> None:
        """Needs nothing of the journal any more, whatever it holds, and syncs nothing more."""
        self._is_abandoned = True
        if self._tail is not None:
            self._tail.let_go()
        if self._backing is not None:
            self._backing.stand()


def _nothing() -> None:
    """The job of a partition that has nothing to sync."""


def _ignored(_outcome: Outcome) -> None:
    """Nobody waits for that job."""
