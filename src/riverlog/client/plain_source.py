"""Reading partitions on one's own, from a place to an end or for ever."""

from collections.abc import Iterator

from riverlog.client.cluster import Cluster
from riverlog.client.errors import CorruptRecords, OffsetOutOfRange
from riverlog.client.fetcher import Fetched, Fetcher
from riverlog.client.offsets import Place, find
from riverlog.client.received import ReceivedRecord
from riverlog.client.source import ReadingOptions
from riverlog.config import MIB
from riverlog.records.batch import check_batch
from riverlog.records.errors import BatchError
from riverlog.records.record import iterate
from riverlog.runtime.tasks import Supervisor

DECOMPRESSED_BYTES_MAX = 128 * MIB
# Small batches are given out together, so that a hand-over costs little for each record.
CHUNK_RECORDS = 500


class PlainSource:
    """Reads partitions on one's own, without a group."""

    def __init__(
        self,
        cluster: Cluster,
        tasks: Supervisor,
        name: str,
        topic: str,
        options: ReadingOptions,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._options = options
        self._fetcher = Fetcher(cluster, tasks, topic, name, options.get("outage_ms_max"))
        self._is_open = False
        self._has_begun = False
        self._ends: dict[int, int] = {}
        self._unread: Iterator[list[ReceivedRecord]] = iter(())
        self._unfinished: set[int] = set()

    @property
    def is_stale(self) -> bool:
        return False

    async def open(self) -> None:
        if self._is_open:
            return
        start = self._options.get("start", "latest")
        until = self._options.get("until")
        deadline = self._cluster.deadline()
        chosen = self._options.get("partitions")
        starts = await find(self._cluster, self._topic, start, chosen, deadline)
        if until is not None:
            end: Place = "latest" if until == "end" else until
            self._ends = await find(self._cluster, self._topic, end, list(starts), deadline)
        self._unfinished = {
            partition
            for partition, offset in starts.items()
            if partition not in self._ends or offset < self._ends[partition]
        }
        self._is_open = True
        self._fetcher.read_from({partition: starts[partition] for partition in self._unfinished})

    async def chunk(self) -> list[ReceivedRecord]:
        await self.open()
        while self._unfinished:
            records = next(self._unread, None)
            if records is None and self._unfinished:
                fetched = await self._next()
                if fetched is None:
                    break
                self._unread = self._decode(fetched)
            elif records:
                self._has_begun = True
                return records
        await self.close()
        return []

    async def _next(self) -> list[Fetched] | None:
        while True:
            try:
                return await self._fetcher.next(self._options.get("timeout_ms"))
            except OffsetOutOfRange:
                # What was the earliest a moment ago may be gone; once we have given records,
                # it is for whoever reads to say what to do about those that are missing.
                if self._has_begun or self._options.get("start") != "earliest":
                    raise
                self._is_open = False
                await self.open()

    def finished(self, record: ReceivedRecord) -> None:
        """Nothing depends on it here."""

    async def close(self) -> None:
        self._unfinished.clear()
        self._fetcher.close()

    def _decode(self, fetched: list[Fetched]) -> Iterator[list[ReceivedRecord]]:
        for part in fetched:
            yield from chunks(self._topic, part, self._ends.get(part.partition))
            reached = part.batches[-1][1].next_offset if part.batches else part.position
            if reached >= self._ends.get(part.partition, reached + 1):
                self._fetcher.stop(part.partition)
                self._unfinished.discard(part.partition)


def chunks(topic: str, fetched: Fetched, end: int | None = None) -> Iterator[list[ReceivedRecord]]:
    """The records of what was fetched, in lists of some hundred; those before its place left out.

    Raises `CorruptRecords` for a batch whose checksum or content is wrong.
    """
    partition, position, data, batches = fetched
    stop = 2**63 if end is None else end
    new = tuple.__new__
    made: list[ReceivedRecord] = []
    for start, header in batches:
        if header.is_control or header.record_count == 0:
            continue
        try:
            check_batch(data, start)
            made += [
                new(ReceivedRecord, (topic, partition, *record))
                for record in iterate(data, start, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX)
                if position <= record[0] < stop
            ]
        except BatchError as error:
            where = f"{topic}/{partition} from offset {header.base_offset}"
            raise CorruptRecords(f"{where}: {error}") from None
        if len(made) >= CHUNK_RECORDS:
            yield made
            made = []
    if made:
        yield made
