"""A partition: offsets given in call order, made durable in groups, visible once durable."""

import asyncio
from collections.abc import Collection, Sequence
from typing import NamedTuple

from riverlog.log.batches import Batches, Stretch, in_sequence
from riverlog.log.beginning import Beginning, remove_files
from riverlog.log.checking import check_apart
from riverlog.log.checkpoint import Checkpoint
from riverlog.log.checkpointer import checkpoint_at
from riverlog.log.ending import Ending
from riverlog.log.errors import LogClosed, OffsetOutOfRange, StorageFailed
from riverlog.log.mending import state_on_disk
from riverlog.log.producers import RefusedBefore
from riverlog.log.reading import Reader, Timed
from riverlog.log.recovery import Recovery
from riverlog.log.retention import NEVER_MS
from riverlog.log.segment import Segment
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared
from riverlog.log.tail import Mark
from riverlog.log.waiting import Waiting
from riverlog.records.batch import BatchHeader, placed, read_header, stamp_append_time
from riverlog.records.builder import build_gap
from riverlog.records.crc import Buffer
from riverlog.stores.disk import tried_twice


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
        journal_key: bytes = b"",
    ) -> None:
        self._shared = shared
        self._directories = list(directories)
        self.settings = settings
        self.leader_epoch = leader_epoch
        found = tried_twice(
            lambda: Recovery(
                shared.disk, directories, epoch_max=epoch_max, rewrites=True, report=shared.report
            ).run()
        )
        self.epochs = found.epochs
        self.producers = found.producers
        self._segments = found.segments
        self._end = Ending(self, shared, directories, found, journal_key)
        self._start = Beginning(
            shared, directories[-1], self._segments, self._end, found.log_start_offset
        )
        self._reader = Reader(
            self._segments, self.epochs, shared.disk, shared.handles, shared.report
        )
        if found.left_over:
            self._remove_soon(found.left_over)
        self.waiting = Waiting()
        self._is_refusing = False
        self.is_closed = False

    @property
    def log_start_offset(self) -> int:
        return self._start.offset

    @property
    def high_watermark(self) -> int:
        return self._end.high_watermark

    @property
    def next_offset(self) -> int:
        return self._end.next_offset

    # Writing.

    def append(self, batch: Buffer, header: BatchHeader, now_ms: int) -> Appended:
        """Takes offsets for a checked batch and hands it to the operating system, now.

        A plain `def` on purpose: offsets are given in call order. Raises `StorageFailed` when the
        disk refused, and what `Producers.find_duplicate` raises; nothing has changed then.
        """
        if self.is_closed:
            raise LogClosed("the partition is closed")
        end = self._end
        try:
            if end.failure is not None:
                end.mend()
            if header.has_producer:
                original = self.producers.find_duplicate(header)
                if original is not None:
                    end_offset = original.last_offset + 1
                    time_ms = original.timestamp_ms if self.settings.uses_append_time else -1
                    return Appended(original.base_offset, end_offset, time_ms, is_duplicate=True)
            base_offset = end.next_offset
            append_time_ms = -1
            if self.settings.uses_append_time:
                append_time_ms = now_ms
                batch = bytearray(batch)
                stamp_append_time(batch, 0, now_ms)
                header = read_header(batch)
            header, start, rest = placed(batch, header, base_offset, self.leader_epoch)
            end.write(start, rest, header, now_ms)
        except RefusedBefore as error:
            raise StorageFailed(str(error)) from error
        except OSError as error:
            if header.has_producer:
                self.producers.refuse(
                    header.producer_id, header.producer_epoch, header.base_sequence
                )
            if not self._is_refusing:
                self._is_refusing = True
                self._shared.trouble(self._directories[-1], error)
            raise StorageFailed(f"the disk refused the records: {error.strerror}") from error
        self._is_refusing = False
        self.epochs.note(self.leader_epoch, base_offset)
        if header.has_producer:
            self.producers.apply(header, now_ms)
        return Appended(base_offset, header.next_offset, append_time_ms, is_duplicate=False)

    def append_all(self, batches: Batches, now_ms: int) -> int | None:
        """Like `append` for several checked batches at once; where they end.

        None, and nothing has changed, when they have to be looked at one by one: then `append`
        says of each what is wrong with it.
        """
        end = self._end
        if self.is_closed or end.failure is not None or self.settings.uses_append_time:
            return None
        base_offset = end.next_offset
        data, marks = batches.placed(base_offset, self.leader_epoch)
        produced = in_sequence(data, self.producers) if batches.has_producers else []
        if produced is None:
            return None
        end_offset = base_offset + batches.record_count
        stretch = Stretch(
            base_offset,
            end_offset,
            batches.size_bytes,
            batches.record_count,
            batches.time_max_ms,
            batches.batch_bytes_max,
            marks,
        )
        try:
            end.write_all(data, stretch, now_ms)
        except OSError:
            return None
        self._is_refusing = False
        self.epochs.note(self.leader_epoch, base_offset)
        for header in produced:
            self.producers.apply(header, now_ms)
        return end_offset

    def durable(self, end_offset: int) -> asyncio.Future[None] | None:
        """Done when everything before `end_offset` is durable; None when it is already.

        Raises `StorageFailed` if it never will be.
        """
        if end_offset <= self.high_watermark:
            return None
        return self.waiting.until(end_offset)

    def settled(self) -> asyncio.Future[None] | None:
        """Done when all that was written so far is durable or has failed; None if so already.

        Whoever asks for the end of the log after it sees all that was acknowledged, in any way.
        """
        if self.is_closed or not self._end.is_under_way:
            return None
        return self.waiting.settled(self.next_offset)

    # What its end tells it.

    def became_durable(self, end_offset: int) -> None:
        """Tells those who wait for it."""
        self._reader.reached(end_offset, self._end.visible_bytes)
        self.waiting.reached(end_offset)

    def failed(self, error: OSError) -> None:
        """Tells those whose records will not be durable."""
        self._shared.trouble(self._directories[-1], error)
        message = f"the disk failed to keep the records: {error.strerror}"
        self.waiting.failed(StorageFailed(message))

    def begin_again(self) -> None:
        """Takes the state of producers and epochs from what the files have kept."""
        producers = self.producers
        self.epochs, self.producers = state_on_disk(
            self._shared.disk,
            self._directories,
            self.leader_epoch,
            producers,
            self._shared.report,
        )
        self.producers.take_times(producers)

    def checkpoint_at(self, mark: Mark) -> Checkpoint:
        """Its state now, when `mark` is the end of all that was written."""
        return checkpoint_at(mark, self.log_start_offset, self.epochs, self.producers)

    # Reading.

    def read(self, offset: int, bytes_max: int) -> memoryview:
        """Whole batches from `offset` on, as far as they are durable; empty at the end.

        The batch that holds `offset` comes whole, and one batch always comes, however large:
        one without records where the log ends with offsets that stay unused, so that a reader
        gets to the end. Raises `OffsetOutOfRange`.
        """
        if not self.log_start_offset <= offset <= self.high_watermark:
            raise OffsetOutOfRange(
                f"offset {offset} is not in {self.log_start_offset} to {self.high_watermark}"
            )
        end = self.high_watermark
        found = memoryview(b"")
        if offset < end and self._segments:
            found = self._reader.read(offset, bytes_max, end, self._end.visible_bytes)
        # As long as anything is under way, who asks again soon finds it, or the gap before it.
        if not found and offset < end == self.next_offset:
            return memoryview(build_gap(offset, end, self.epochs.latest))
        return found

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
        return self._reader.first_at_or_after(
            timestamp_ms, self.log_start_offset, self.high_watermark
        )

    def latest_in_time(self) -> Timed | None:
        """The first durable record among those with the largest timestamp."""
        return self._reader.latest_in_time(self.log_start_offset, self.high_watermark)

    # Letting go.

    def delete_before(self, offset: int) -> asyncio.Future[None] | None:
        """Done when nothing before `offset` is there any more, durably; None if so already.

        Raises `OffsetOutOfRange`, and the future `OSError`: nothing was deleted then. The room
        on the disk comes back when whole segments are `retire`d.
        """
        if not 0 <= offset <= self.high_watermark:
            raise OffsetOutOfRange(f"offset {offset} is not in 0 to {self.high_watermark}")
        moved = self._start.move_to(offset)
        if moved is not None:
            # Who waits for more at an offset that is gone should hear of it.
            moved.add_done_callback(lambda _: self.waiting.wake())
        return moved

    @property
    def has_to_wait(self) -> bool:
        """Whether something could not go in the last `retire`, but soon can."""
        return self._start.has_to_wait

    async def retire(self, now_ms: int, even_since_ms: int = NEVER_MS) -> list[Segment]:
        """Lets segments go that have had their time: out of the log, durably, when it returns.

        `even_since_ms` is since when the clock has run evenly, as far as anybody knows.
        Their files are still there: somebody may be reading. Raises `OSError`.
        """
        if self.is_closed:
            return []
        gone = await self._start.retire(self.settings, now_ms, even_since_ms)
        if gone:
            self.epochs.trim(self._segments[0].base_offset)
            self._reader.count_unchecked()
            self.waiting.wake()
        return gone

    def _remove_soon(self, base_offsets: Collection[int]) -> None:
        """Removes what was left of segments in an earlier life; what fails, a later one does."""
        disk, directory = self._shared.disk, self._directories[-1]
        self._shared.syncer.run_apart(
            lambda: remove_files(disk, directory, base_offsets), lambda _: None
        )

    # The end.

    def close(self) -> None:
        """Makes everything durable and leaves a checkpoint at the very end; raises `OSError`."""
        self.is_closed = True
        self._end.close()
        self._leave()

    def abandon(self) -> None:
        """Stops at once, as for a topic that is gone: whoever waits is told, files stay."""
        self.is_closed = True
        self._end.abandon()
        self._leave()

    def _leave(self) -> None:
        self._end.is_closed = True
        self._shared.commit.forget(self._end)
        self.waiting.failed(LogClosed("the partition was closed"))
        self.waiting.wake()
        for segment in self._segments:
            self._shared.handles.drop(segment.path)
