"""One partition's part in the journal: what it would have to keep, and what it does keep."""

import errno

from riverlog.log.fresh import Fresh
from riverlog.log.journal import Backed, Journal
from riverlog.log.journal_frames import Entry
from riverlog.log.segment import Segment
from riverlog.log.tail import Mark
from riverlog.records.crc import Buffer
from riverlog.stores.handles import Handles


class Backing:
    """Knows what of a partition's tail the journal may make durable, and holds the file open
    while any of it is durable nowhere else: so no error in writing it can be missed."""

    __slots__ = ("_fresh", "_handles", "_held_path", "_journal", "_key", "_partition")

    def __init__(self, journal: Journal, key: bytes, partition: Backed, handles: Handles) -> None:
        self._journal = journal
        self._key = key
        self._partition = partition
        self._handles = handles
        self._fresh = Fresh(0)
        self._held_path = ""

    @property
    def number(self) -> int:
        """Of the journal's file: what is written from now on stands there or in a later one."""
        return self._journal.number

    def begin_segment(self, position: int) -> None:
        """Another segment is written to, and is durable up to `position`."""
        self._fresh = Fresh(position)

    def wrote(self, size_bytes: int, start: Buffer, rest: Buffer) -> None:
        """A batch, in two parts, was written at the end of the segment."""
        self._fresh.add(size_bytes, start, rest)

    def durable_to(self, position: int) -> None:
        """The segment is durable up to `position`, one way or another."""
        self._fresh.durable_to(position)

    def entry(self, segment: Segment) -> Entry | None:
        """What makes the segment durable to its end; None if it must be synced itself."""
        if not self._fresh.is_whole or not self._journal.accepts(self._partition):
            return None
        return Entry(self._key, segment.base_offset, self._fresh.start, self._fresh.parts)

    def lean(self, segment: Segment, number: int) -> None:
        """The journal has an entry of the segment, in file `number` or a later one.

        Raises `OSError` when the segment's file cannot be held open; nothing has changed then.
        """
        if not self._journal.accepts(self._partition):
            raise OSError(errno.EMFILE, "too many files are behind the journal", segment.path)
        if not self._held_path:
            self._handles.lend(segment.path)
            self._held_path = segment.path
            self._journal.leans(self._partition, number)

    def refuse(self) -> None:
        """The journal could not help: the segment has to be synced itself the next time."""
        self._fresh.let_go()

    def synced_to(self, mark: Mark, durable: Mark, number: int) -> None:
        """The file itself has kept everything up to `mark`, and so all that stands in the journal
        before file `number`."""
        if durable.next_offset > mark.next_offset:
            self._journal.still_leans(self._partition, number)
        else:
            self.stand()

    def stand(self) -> None:
        """The partition needs nothing of the journal any more."""
        if self._held_path:
            self._journal.stands(self._partition)
            self._handles.give_back(self._held_path)
            self._held_path = ""

    def rescued(self, synced: Mark, durable: Mark) -> bytes:
        """What the journal kept of the segment and its file did not; raises `OSError`."""
        return self._journal.rescued(
            self._key, synced.segment.base_offset, synced.size_bytes, durable.size_bytes
        )
