"""The beginning of a log: it moves on when records are deleted, or have had their time.

First the new start is durable, then segments leave the log and readers do not find them, and only
then, after a while, their files go. What is left of them after a crash the next start removes.
"""

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress

from riverlog.log.ending import Ending
from riverlog.log.retention import Held, count_due
from riverlog.log.segment import Segment, segment_of
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared
from riverlog.log.start_offset import StartOffset
from riverlog.stores.disk import Disk
from riverlog.stores.syncer import apart


class Beginning:
    """Takes segments off the front of `segments`; belongs to one event loop.

    `has_to_wait` says that in the last `retire` something could not go yet, but soon can.
    """

    def __init__(
        self,
        shared: Shared,
        directory: str,
        segments: list[Segment],
        end: Ending,
        start_offset: int,
    ) -> None:
        self._disk = shared.disk
        self._syncer = shared.syncer
        self._directory = directory
        self._segments = segments
        self._end = end
        self.has_to_wait = False
        self._start = StartOffset(shared.disk, shared.syncer, directory, start_offset)

    @property
    def offset(self) -> int:
        """Where the log begins, durably."""
        return self._start.offset

    def move_to(self, offset: int) -> asyncio.Future[None] | None:
        """Done once the log begins at `offset`, durably; None if it does already, or later."""
        return self._start.move_to(offset)

    async def retire(self, settings: LogSettings, now_ms: int, even_since_ms: int) -> list[Segment]:
        """Lets segments go that have had their time; they are out of the log when it returns.

        Those whose producers no checkpoint has kept yet, and the one being written while it is
        not durable to its end, have to wait for the next call. Raises `OSError`.
        """
        count = count_due(
            list(_held(self._segments, now_ms)),
            settings,
            now_ms,
            self.offset,
            self._end.high_watermark,
            even_since_ms,
        )
        due, covered_offset = count, self._end.covered_offset
        count = sum(one.next_offset <= covered_offset for one in self._segments[:due])
        if count < due:
            self._end.want_checkpoint()
        if count == len(self._segments) > 0 and not self._end.begin_anew():
            count -= 1
        self.has_to_wait = count < due
        if not count:
            return []
        last, kept = self._segments[count - 1], self._segments[count]
        # After a failed sync, offsets before the next segment stay unused and are not durable.
        moved = self.move_to(min(kept.base_offset, self._end.high_watermark))
        # The name of a segment just begun is durable with it, and needs to be without it.
        await (moved or apart(self._syncer, self._sync_directory))
        gone = [segment for segment in self._segments if segment.base_offset <= last.base_offset]
        del self._segments[: len(gone)]
        return gone

    def _sync_directory(self) -> None:
        self._disk.sync_directory(self._directory)


def remove_files(disk: Disk, directory: str, base_offsets: Collection[int]) -> None:
    """Removes all files of these segments, those put aside included; raises `OSError`."""
    for name in disk.list(directory):
        if segment_of(name) in base_offsets:
            with suppress(FileNotFoundError):
                disk.remove(f"{directory}/{name}")


def _held(segments: Iterable[Segment], now_ms: int) -> Iterable[Held]:
    for segment in segments:
        if not 0 <= segment.last_append_ms <= now_ms:
            # Nobody knows, or the clock was set back: it was now at the latest.
            segment.last_append_ms = now_ms
        yield Held(
            segment.next_offset,
            segment.size_bytes,
            segment.max_timestamp_ms,
            segment.last_append_ms,
        )
