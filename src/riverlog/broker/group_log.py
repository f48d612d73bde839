"""The log of some groups: one partition of `__consumer_offsets`, read once and then written."""

import asyncio
from collections.abc import Iterator, Sequence

from riverlog.groups.facts import DurableFact
from riverlog.groups.records import UnknownRecord, decode, encode
from riverlog.log.partition import Partition
from riverlog.log.waiting import Told
from riverlog.records.batch import read_header, split
from riverlog.records.builder import build_batch
from riverlog.records.record import Record, iterate
from riverlog.runtime.clock import Clock
from riverlog.runtime.logs import get

log = get(__name__)

# Reading so much takes the loop about 3 ms.
READ_BYTES = 32 << 10
RECORD_BYTES_MAX = 64 << 20


class GroupLog:
    """Facts about groups, in the order they became true.

    Nothing may be appended before all of it was read: `is_read` says so.
    """

    def __init__(self, partition: Partition, clock: Clock) -> None:
        self._partition = partition
        self._clock = clock
        self._offset = partition.log_start_offset
        # Where each group's first record stands that still matters.
        self._bases: dict[str, int] = {}

    @property
    def is_closed(self) -> bool:
        return self._partition.is_closed

    @property
    def is_read(self) -> bool:
        return self._offset >= self._partition.high_watermark

    def make_ready(self) -> asyncio.Future[None] | None:
        """What the next `read_on` has to wait for, if it is to be quick."""
        return self._partition.make_ready(self._offset)

    def read_on(self) -> Iterator[tuple[str, DurableFact]]:
        """The next facts, by group; raises `OSError`. What this version cannot read stays."""
        data = self._partition.read(self._offset, READ_BYTES)
        if not data:
            # The last offsets were given to what the disk then refused: nothing has them.
            self._offset = self._partition.high_watermark
        for position, header in split(data):
            for record in iterate(data, position, decompressed_bytes_max=RECORD_BYTES_MAX):
                try:
                    group_id, fact = decode(record.key, record.value)
                except UnknownRecord as error:
                    log.warning("record skipped", offset=record.offset, reason=str(error))
                    continue
                self._bases.setdefault(group_id, header.base_offset)
                yield group_id, fact
            self._offset = header.next_offset

    def append(self, group_id: str, facts: Sequence[DurableFact], told: Told) -> None:
        """Writes facts down, all or none; `told` hears when they are durable, or why they are not.

        Raises `StorageFailed` or `LogClosed` when they are refused at once.
        """
        assert self.is_read, "the log is read before it is written"
        now_ms = self._clock.now_ms()
        entries = [encode(group_id, fact) for fact in facts]
        batch = build_batch(
            [Record(index, now_ms, key, value) for index, (key, value) in enumerate(entries)]
        )
        appended = self._partition.append(batch, read_header(batch), now_ms)
        self._offset = appended.end_offset
        self._bases.setdefault(group_id, appended.base_offset)
        self._partition.waiting.tell(appended.end_offset, told)

    # What does not matter any more.

    @property
    def length(self) -> int:
        """How many records a start would have to read."""
        return self._partition.high_watermark - self._partition.log_start_offset

    @property
    def next_offset(self) -> int:
        """Where the next facts will stand."""
        return self._partition.next_offset

    @property
    def group_ids(self) -> list[str]:
        """The groups of which something in here matters."""
        return list(self._bases)

    def rebase(self, group_id: str, offset: int | None) -> None:
        """Of this group, nothing before `offset` matters any more; nothing at all if it is None."""
        if offset is None:
            self._bases.pop(group_id, None)
        else:
            self._bases[group_id] = offset

    async def settled(self) -> None:
        """Returns when all that was written is durable; raises `StorageFailed` or `LogClosed`."""
        durable = self._partition.durable(self._partition.next_offset)
        if durable is not None:
            await durable

    async def trim(self) -> None:
        """Lets go of what matters to no group, durably; raises `OSError`."""
        partition = self._partition
        start = min(self._bases.values(), default=partition.high_watermark)
        if partition.log_start_offset < start <= partition.high_watermark:
            trimmed = partition.delete_before(start)
            if trimmed is not None:
                await trimmed
