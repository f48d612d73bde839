"""A partition: offsets given in call order, made durable in groups, visible once durable."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from riverlog.log.checking import check_apart
from riverlog.log.checkpoint import SEAL_SUFFIX
from riverlog.log.checkpointer import Checkpointer, checkpoint_at, owed_bytes
from riverlog.log.errors import LogClosed, OffsetOutOfRange, StorageFailed
from riverlog.log.reading import Reader, Timed
from riverlog.log.recovery import Recovered, Recovery, seal_of
from riverlog.log.segment import Segment
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared
from riverlog.log.tail import Mark, Tail, is_full, mark_of
from riverlog.log.waiting import Waiting
from riverlog.records.batch import BatchHeader, placed, read_header, stamp_append_time
from riverlog.records.crc import Buffer
from riverlog.stores.small_file import write_small_file
from riverlog.stores.syncer import Job, Outcome


class Appended(NamedTuple):
    """Where a batch stands in the log. A duplicate stands where its original does."""

    base_offset: int
    end_offset: int
    append_time_ms: int
    is_duplicate: bool


class Partition:
    """The log of one partition; belongs to one event loop.

    It lives in the last of `directories`, which are made, outermost first, when the first batch
    is appended. `high_watermark` is the end of what is durable, and so of what can be read;
    `next_offset` is the end of what has been written.
    """

    def __init__(
        self,
        shared: Shared,
        directories: Sequence[str],
        settings: LogSettings,
        *,
        leader_epoch: int,
        epoch_max: int,
    ) -> None:
        self._shared = shared
        self._directories = list(directories)
        self.settings = settings
        self.leader_epoch = leader_epoch
        recovery = Recovery(
            shared.disk,
            directories,
            epoch_max=epoch_max,
            rewrites=True,
            report=shared.report,
        )
        found: Recovered = recovery.run()
        self.epochs = found.epochs
        self.producers = found.producers
        self.log_start_offset = found.log_start_offset
        self.next_offset = self.high_watermark = found.next_offset
        self._segments = found.segments
        owed = owed_bytes(found.segments, found.checkpoint)
        self._checkpoints = Checkpointer(shared.disk, shared.syncer, directories[-1], owed)
        self._reader = Reader(
            self._segments, self.epochs, shared.disk, shared.handles, shared.report
        )
        self._tail: Tail | None = None
        if self._segments and not self._segments[-1].is_sealed:
            last = self._segments[-1]
            if last.next_offset == self.next_offset:
                self._tail = Tail(last, shared.handles, last.size_bytes)
        self._durable = self._tail.mark() if self._tail else None
        self._unsynced_directories: list[str] = []
        self.waiting = Waiting()
        self._failure: OSError | None = None
        self._is_syncing = False
        self._is_roll_due = False
        self._is_refusing = False
        self.is_closed = False

    # Writing.

    def append(self, batch: Buffer, header: BatchHeader, now_ms: int) -> Appended:
        """Takes offsets for a checked batch and hands it to the operating system, now.

        A plain `def` on purpose: offsets are given in call order. Raises `StorageFailed` when the
        disk refused, and what `Producers.find_duplicate` raises; nothing has changed then.
        """
        if self.is_closed:
            raise LogClosed("the partition is closed")
        try:
            if self._failure is not None:
                self._leave_broken_tail()
            if header.has_producer:
                original = self.producers.find_duplicate(header)
                if original is not None:
                    end_offset = original.last_offset + 1
                    return Appended(original.base_offset, end_offset, -1, is_duplicate=True)
            base_offset = self.next_offset
            append_time_ms = -1
            if self.settings.uses_append_time:
                append_time_ms = now_ms
                batch = bytearray(batch)
                stamp_append_time(batch, 0, now_ms)
                header = read_header(batch)
            header, start, rest = placed(batch, header, base_offset, self.leader_epoch)
            self._tail_for(header.size_bytes, now_ms).write((start, rest), header)
        except OSError as error:
            if header.has_producer:
                self.producers.expect(
                    header.producer_id, header.producer_epoch, header.base_sequence
                )
            if not self._is_refusing:
                self._is_refusing = True
                self._shared.trouble(self._directories[-1], error)
            raise StorageFailed(f"the disk refused the records: {error.strerror}") from error
        self._is_refusing = False
        self._checkpoints.owed_bytes += header.size_bytes
        self.next_offset = header.next_offset
        self.epochs.note(self.leader_epoch, base_offset)
        if header.has_producer:
            self.producers.apply(header)
        self._shared.commit.request(self)
        return Appended(base_offset, header.next_offset, append_time_ms, is_duplicate=False)

    def durable(self, end_offset: int) -> asyncio.Future[None] | None:
        """Done when everything before `end_offset` is durable; None when it is already.

        Raises `StorageFailed` if it never will be.
        """
        if end_offset <= self.high_watermark:
            return None
        return self.waiting.until(end_offset)

    def _tail_for(self, size_bytes: int, now_ms: int) -> Tail:
        """The tail to write to: the present one, or a new one when that is full or broken."""
        if self._tail is not None and is_full(
            self._tail.segment, size_bytes, now_ms, self.settings
        ):
            # Of two syncs of one file at a time, only one would learn of a failure.
            self._is_roll_due = self._is_syncing
            if not self._is_syncing:
                self._roll(self._tail)
        if self._tail is None:
            self._tail = self._create_tail()
        if self._tail.segment.first_append_ms < 0:
            self._tail.segment.first_append_ms = now_ms
        return self._tail

    def _create_tail(self) -> Tail:
        disk = self._shared.disk
        if not self._segments:
            for directory in self._directories:
                disk.make_directory(directory)
        segment = Segment(self._directories[-1], self.next_offset)
        self._shared.handles.keep(segment.path, disk.create(segment.path))
        # Names from the innermost outwards: each directory is found only through the next.
        unsynced = self._directories if not self._segments else self._directories[-1:]
        self._unsynced_directories = unsynced[::-1]
        self._segments.append(segment)
        return Tail(segment, self._shared.handles, 0)

    def _roll_now(self) -> None:
        """Makes up for a roll that had to wait; if it fails, the next append tries again."""
        self._is_roll_due = False
        if self._tail is not None:
            with suppress(OSError):
                self._roll(self._tail)

    def _roll(self, tail: Tail) -> None:
        """Closes the tail. It is durable before a newer file exists, so order needs no care."""
        self._sync_now(tail)
        segment = tail.segment
        content = seal_of(segment, segment.next_offset).to_bytes()
        # After an error the seal may be there or not; behind one nothing may be written, and
        # without one recovery makes it.
        with suppress(OSError):
            write_small_file(self._shared.disk, segment.beside(SEAL_SUFFIX), content)
        segment.is_sealed = True
        self._tail = None

    # Durability.

    def begin_sync(self) -> tuple[Job, Callable[[Outcome], None]]:
        """Part of a round of group commit; see `Committed`."""
        if self._tail is None or self._tail.is_empty or self._failure is not None:
            return _nothing, _ignored
        shared, mark = self._shared, self._tail.mark()
        path = mark.segment.path
        try:
            file = shared.handles.lend(path)
        except OSError as error:
            self._sync_failed(error)
            return _nothing, _ignored
        directories, self._unsynced_directories = self._unsynced_directories, []
        checkpoint = None
        owed = self._checkpoints.owed_bytes
        if not self.is_closed and self._checkpoints.is_due(self.settings.checkpoint_bytes):
            # Taken now: by the time the sync ends, more will have been written.
            checkpoint = checkpoint_at(mark, self.log_start_offset, self.epochs, self.producers)
        self._is_syncing = True

        def job() -> None:
            file.sync()
            for directory in directories:
                shared.disk.sync_directory(directory)

        def ended(outcome: Outcome) -> None:
            self._is_syncing = False
            shared.handles.give_back(path)
            if mark.next_offset > mark.segment.next_offset:
                return  # The file was given up while it was synced.
            if outcome is not None:
                self._unsynced_directories = directories + self._unsynced_directories
                self._sync_failed(outcome)
                return
            self._made_durable(mark)
            if checkpoint is not None:
                self._checkpoints.keep(checkpoint, owed)
            if self._is_roll_due:
                self._roll_now()

        return job, ended

    def _sync_now(self, tail: Tail) -> None:
        """Gives back what was filled ahead and waits for the disk; raises `OSError`."""
        job, ended = self.begin_sync()
        try:
            if self._failure is not None:
                raise self._failure
            tail.trim()
            job()
        except OSError as error:
            ended(error)
            raise
        ended(None)

    def _made_durable(self, mark: Mark) -> None:
        if mark.next_offset <= self.high_watermark or self._failure is not None:
            return
        self._durable = mark
        self.high_watermark = mark.next_offset
        self.waiting.reached(self.high_watermark)

    def _sync_failed(self, error: OSError) -> None:
        """A failed sync is final for the file: nothing written to it since is ever counted on."""
        self._failure = error
        self._shared.trouble(self._directories[-1], error)
        message = f"the disk failed to keep the records: {error.strerror}"
        self.waiting.failed(StorageFailed(message))

    def _leave_broken_tail(self) -> None:
        """Seals the broken file at its last durable place; the log goes on in a new one.

        The offsets behind that place were given away, and stay unused. The state of producers is
        made again from what is durable. Raises `OSError` while the disk still refuses.
        """
        assert self._tail is not None
        segment, disk = self._tail.segment, self._shared.disk
        durable = self._durable
        if durable is None or durable.segment is not segment:
            durable = Mark(segment, 0, segment.base_offset, 0, 0)
        segment.size_bytes = durable.size_bytes
        segment.next_offset = durable.next_offset
        segment.hash_so_far = durable.hash_so_far
        segment.record_count = durable.record_count
        segment.index.cut(durable.size_bytes)
        content = seal_of(segment, self.next_offset).to_bytes()
        write_small_file(disk, segment.beside(SEAL_SUFFIX), content)
        for directory in self._unsynced_directories:
            disk.sync_directory(directory)
        segment.is_sealed = True
        self._unsynced_directories = []
        recovery = Recovery(
            disk,
            self._directories,
            epoch_max=self.leader_epoch,
            rewrites=False,
            report=self._shared.report,
        )
        found = recovery.run()
        for producer_id, producer in self.producers:
            found.producers.expect(producer_id, producer.epoch, producer.first_sequence)
        self.epochs, self.producers = found.epochs, found.producers
        self._tail = None
        self._failure = None

    # Reading.

    def read(self, offset: int, bytes_max: int) -> memoryview:
        """Whole batches from `offset` on, as far as they are durable; empty at the end.

        The batch that holds `offset` comes whole, and one batch always comes, however large.
        Raises `OffsetOutOfRange`.
        """
        if not self.log_start_offset <= offset <= self.high_watermark:
            raise OffsetOutOfRange(
                f"offset {offset} is not in {self.log_start_offset} to {self.high_watermark}"
            )
        if offset == self.high_watermark or not self._segments:
            return memoryview(b"")
        last = self._segments[-1]
        durable = self._durable
        end_position = last.size_bytes
        if self._tail is not None:
            is_here = durable is not None and durable.segment is last
            end_position = durable.size_bytes if durable is not None and is_here else 0
        return self._reader.read(offset, bytes_max, self.high_watermark, end_position)

    @property
    def has_unchecked(self) -> bool:
        """Whether any segment was not read, and so not checked, since the broker started."""
        return self._reader.has_unchecked

    def make_ready(self, offset: int) -> asyncio.Future[None] | None:
        """Checks what a read at `offset` needs, out of the loop's way; None if that is quick.

        A read without it checks at once. Raises `OSError`.
        """
        segment = self._reader.unready(offset)
        if segment is None:
            return None
        shared = self._shared
        return check_apart(
            segment, self._reader, shared.handles, shared.syncer, lambda: not self.is_closed
        )

    def first_at_or_after(self, timestamp_ms: int) -> Timed | None:
        """The earliest durable record whose timestamp is at least `timestamp_ms`."""
        return self._reader.first_at_or_after(timestamp_ms, self.high_watermark)

    def latest_in_time(self) -> Timed | None:
        """The first durable record among those with the largest timestamp."""
        return self._reader.latest_in_time(self.high_watermark)

    # The end.

    def close(self) -> None:
        """Makes everything durable and leaves a checkpoint at the very end; raises `OSError`."""
        self.is_closed = True
        if self._failure is None:
            if self._tail is not None:
                self._sync_now(self._tail)
            if self._segments and self._checkpoints.owed_bytes:
                end = mark_of(self._segments[-1])
                last = checkpoint_at(end, self.log_start_offset, self.epochs, self.producers)
                # A full disk has no room for it; then the next recovery has more to do.
                with suppress(OSError):
                    self._checkpoints.keep_last(last)
        self.abandon()

    def abandon(self) -> None:
        """Stops at once, as for a topic that is gone: whoever waits is told, files stay."""
        self.is_closed = True
        self._shared.commit.forget(self)
        self.waiting.failed(LogClosed("the partition was closed"))
        self.waiting.wake()
        for segment in self._segments:
            self._shared.handles.drop(segment.path)


def _nothing() -> None:
    """The job of a partition that has nothing to sync."""


def _ignored(_outcome: Outcome) -> None:
    """Nobody waits for that job."""
