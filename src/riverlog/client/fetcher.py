"""Reading partitions from their leaders, a little ahead of whoever takes the records."""

import asyncio
from functools import partial
from typing import NamedTuple

from riverlog.client.cluster import Cluster
from riverlog.client.codes import MOVED, PASSING, UNCERTAIN, failure
from riverlog.client.connection import ConnectionLost
from riverlog.client.errors import ClientError, CorruptRecords, TimedOut, Unreachable
from riverlog.client.offsets import CONSUMER
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from riverlog.protocol.wire import Buffer
from riverlog.records.batch import HEADER_SIZE, BatchHeader, read_header
from riverlog.records.errors import BatchError
from riverlog.runtime.tasks import Supervisor

# Answers that may wait to be taken, beside those under way.
AHEAD_MAX = 2


class Fetched(NamedTuple):
    """Whole batches of one partition, the first of which may begin below `position`."""

    partition: int
    position: int
    data: Buffer
    batches: list[tuple[int, BatchHeader]]


class Fetcher:
    """Reads the partitions of one topic. Belongs to one event loop.

    It goes on through lost connections and changing leaders; only when no leader has answered
    for `outage_ms_max` (None: ever) does it give up, and when the log lacks what is to be read.
    """

    def __init__(
        self,
        cluster: Cluster,
        tasks: Supervisor,
        topic: str,
        name: str,
        outage_ms_max: int | None = None,
    ) -> None:
        self._cluster = cluster
        self._clock = cluster.world.clock
        self._tasks = tasks
        self._topic = topic
        self._name = name
        self._outage_ms_max = outage_ms_max
        self._positions: dict[int, int] = {}
        self._following: set[int | None] = set()
        self._follow_count = 0
        self._ahead: asyncio.Queue[list[Fetched] | ClientError] = asyncio.Queue()
        self._has_room = asyncio.Event()
        self._heard_ms = self._clock.monotonic_ms()
        self._is_closed = False
        # Counts the times that somebody chose what to read: answers to older choices are dropped.
        self._epoch = 0

    def read_from(self, positions: dict[int, int]) -> None:
        """Reads these partitions, from these offsets, and no others."""
        self._positions = dict(positions)
        self._epoch += 1
        while not self._ahead.empty():
            self._ahead.get_nowait()
        self._has_room.set()
        self._heard_ms = self._clock.monotonic_ms()
        self._regroup()

    def interrupt(self) -> None:
        """Whoever waits for something to be read gets nothing, at once."""
        self._ahead.put_nowait([])

    def stop(self, partition: int) -> None:
        """Reads a partition no further."""
        self._positions.pop(partition, None)

    async def next(self, timeout_ms: int | None) -> list[Fetched] | None:
        """What was read of the partitions asked for; None after the timeout or `close`,
        nothing after `interrupt`.

        Raises what keeps it from reading on.
        """
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                while True:
                    fetched = await self._ahead.get()
                    self._has_room.set()
                    if self._is_closed:
                        return None
                    if isinstance(fetched, ClientError):
                        self._positions.clear()
                        raise fetched
                    wanted = [part for part in fetched if part.partition in self._positions]
                    if wanted or not fetched:
                        return wanted
        except TimeoutError:
            return None

    def close(self) -> None:
        """Reads no more; whoever waits for something is told."""
        self._is_closed = True
        self._positions.clear()
        self._ahead.put_nowait([])
        self._has_room.set()
        self._cluster.close_purpose(self._name)

    def _regroup(self) -> None:
        """Sees to it that the leader of every partition is followed; `None` looks for leaders."""
        if self._is_closed:
            return
        leaders = {self._cluster.leader_of(self._topic, number) for number in self._positions}
        for leader in leaders - self._following:
            self._following.add(leader)
            self._follow_count += 1
            follow = partial(self._follow, leader)
            self._tasks.start(f"{self._name} {self._follow_count}", follow)

    async def _follow(self, leader: int | None) -> None:
        backoff = self._cluster.backoff()
        try:
            while led := self._led_by(leader):
                try:
                    if leader is None:
                        await self._find_leaders()
                    else:
                        await self._fetch(leader, led)
                    backoff.reset()
                except (ConnectionLost, Unreachable, TimedOut) as trouble:
                    self._cluster.forget([self._topic])
                    if self._is_out_for_too_long():
                        raise Unreachable(str(trouble)) from None
                    await self._clock.sleep_ms(backoff.next_ms())
        except ClientError as error:
            self._ahead.put_nowait(error)
        finally:
            self._following.discard(leader)
        self._regroup()

    def _led_by(self, leader: int | None) -> dict[int, int]:
        return {
            partition: position
            for partition, position in self._positions.items()
            if self._cluster.leader_of(self._topic, partition) == leader
        }

    def _is_out_for_too_long(self) -> bool:
        silent_ms = self._clock.monotonic_ms() - self._heard_ms
        return self._outage_ms_max is not None and silent_ms >= self._outage_ms_max

    async def _find_leaders(self) -> None:
        view = await self._cluster.topic(self._topic, self._cluster.deadline())
        if any(view.leader_of(partition) is None for partition in self._positions):
            raise TimedOut(f"{self._topic} has no leader")

    async def _fetch(self, leader: int, led: dict[int, int]) -> None:
        settings = self._cluster.settings
        epoch = self._epoch
        partitions = [
            FetchPartition(
                partition=partition,
                fetch_offset=position,
                partition_max_bytes=settings.partition_fetch_bytes_max,
            )
            for partition, position in led.items()
        ]
        request = FetchRequest(
            replica_id=CONSUMER,
            max_wait_ms=settings.fetch_wait_ms,
            min_bytes=1,
            max_bytes=settings.fetch_bytes_max,
            topics=[FetchTopic(topic=self._topic, partitions=partitions)],
        )
        deadline = self._cluster.deadline(settings.request_timeout_ms + settings.fetch_wait_ms)
        response = await self._cluster.ask_node(
            leader, request, FetchResponse, deadline, self._name
        )
        if response.error_code:
            raise failure(response.error_code, self._topic)
        self._heard_ms = self._clock.monotonic_ms()
        fetched = []
        troubles = []
        for topic in response.responses:
            for data in topic.partitions:
                partition = data.partition_index
                if epoch != self._epoch or partition not in self._positions:
                    continue
                if data.error_code:
                    troubles.append(data)
                elif data.records:
                    fetched.append(self._advance(partition, led[partition], data.records))
        if fetched:
            await self._give(fetched, epoch)
        for data in troubles:
            self._judge(data, led[data.partition_index])

    async def _give(self, fetched: list[Fetched], epoch: int) -> None:
        while self._ahead.qsize() >= AHEAD_MAX and epoch == self._epoch and not self._is_closed:
            self._has_room.clear()
            await self._has_room.wait()
        if epoch == self._epoch:
            self._ahead.put_nowait(fetched)

    def _advance(self, partition: int, position: int, records: Buffer) -> Fetched:
        try:
            batches = list(_whole_batches(records))
        except BatchError as error:
            where = f"{self._topic}/{partition} at offset {position}"
            raise CorruptRecords(f"{where}: {error}") from None
        if batches:
            self._positions[partition] = max(position, batches[-1][1].next_offset)
        return Fetched(partition, position, records, batches)

    def _judge(self, data: PartitionData, position: int) -> None:
        where = f"{self._topic}/{data.partition_index} at offset {position}"
        trouble = failure(data.error_code, where)
        if data.error_code not in MOVED | PASSING | UNCERTAIN:
            raise trouble
        raise ConnectionLost(str(trouble))


def _whole_batches(records: Buffer) -> list[tuple[int, BatchHeader]]:
    """Where each batch begins, and its header. Some brokers cut the last one: it is left out."""
    found: list[tuple[int, BatchHeader]] = []
    position = 0
    while position + HEADER_SIZE <= len(records):
        header = read_header(records, position)
        if position + header.size_bytes > len(records):
            break
        found.append((position, header))
        position += header.size_bytes
    return found
