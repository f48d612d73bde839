"""Publishing: which partition a record goes to, how many may wait, and when all are done."""

import asyncio

from riverlog.client.cluster import Cluster
from riverlog.client.errors import Closed, InvalidArgument, TimedOut, TooLarge, UnknownTopic
from riverlog.client.lane import Batch, Lane
from riverlog.client.metadata import TopicView
from riverlog.client.outgoing import NewRecord, as_bytes, as_headers
from riverlog.client.sender import Sender
from riverlog.client.waiting import Deadline
from riverlog.config import MIB
from riverlog.records.partitioning import StickyPartition, partition_of
from riverlog.runtime.tasks import Supervisor

# What brokers read of one request; a larger record would only cost the connection.
RECORD_BYTES_MAX = 64 * MIB
# About what a record needs beside its key and value.
RECORD_OVERHEAD_BYTES = 16
_INT64_MAX = 2**63 - 1


class Producer:
    """Every lane of a client. Belongs to one event loop; `add` fixes the order of records."""

    def __init__(self, cluster: Cluster, tasks: Supervisor) -> None:
        self._cluster = cluster
        self._settings = cluster.settings
        self._clock = cluster.world.clock
        self._sender = Sender(cluster, tasks)
        self._loop = asyncio.get_running_loop()
        self._lanes: dict[tuple[str, int], Lane] = {}
        self._sticky: dict[str, StickyPartition] = {}
        self._pending: dict[Batch, None] = {}
        self._pending_bytes = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_closed = False

    async def topic(self, name: str, deadline: Deadline) -> TopicView:
        """The topic to publish to, created if need be and allowed."""
        may_create = self._settings.auto_create_topics
        return await self._cluster.topic(name, deadline, may_create=may_create)

    async def room(self, deadline: Deadline) -> None:
        """Returns when there is room for more records, or raises `TimedOut`."""
        try:
            async with asyncio.timeout(deadline.left_ms / 1000):
                await self._has_room.wait()
        except TimeoutError:
            raise TimedOut("the broker does not keep up, and no more records can wait") from None

    def add(
        self, topic: TopicView, record: NewRecord, deadline: Deadline
    ) -> tuple[Batch, int, int]:
        """Queues a record, to be sent in this turn of the loop: its batch, its place in that, its
        partition."""
        if self._is_closed:
            raise Closed("the client is closed")
        given_value, given_key, given_headers, timestamp_ms, asked = record
        key = as_bytes(given_key, "a key")
        value = as_bytes(given_value, "a value")
        headers = as_headers(given_headers) if given_headers else ()
        if timestamp_ms is None:
            timestamp_ms = self._clock.now_ms()
        elif not 0 <= timestamp_ms <= _INT64_MAX:
            raise InvalidArgument(f"{timestamp_ms} is no time in milliseconds since 1970")
        size_bytes = len(key or b"") + len(value or b"") + RECORD_OVERHEAD_BYTES
        for name, content in headers:
            size_bytes += len(name) + len(content or b"")
        if size_bytes > RECORD_BYTES_MAX:
            raise TooLarge(f"a record of {size_bytes} bytes; {RECORD_BYTES_MAX} can be sent")
        partition = self._partition(topic, asked, key, size_bytes)
        lane = self._lane(topic, partition)
        batch, index = lane.add(timestamp_ms, key, value, headers, size_bytes, deadline)
        if index == 0:
            self._pending[batch] = None
            batch.done.add_done_callback(lambda _: self._free(batch))
        self._pending_bytes += size_bytes
        if self._pending_bytes > self._settings.buffer_bytes_max:
            self._has_room.clear()
        self._sender.push(lane)
        return batch, index, partition

    async def flush(self, deadline: Deadline) -> None:
        """Returns when the fate of everything added so far is known, or the deadline has passed."""
        if pending := [batch.done for batch in self._pending]:
            await asyncio.wait(pending, timeout=deadline.left_ms / 1000)

    async def close(self, deadline: Deadline) -> None:
        """Takes no more, and waits for what was added, but no longer than the deadline."""
        self._is_closed = True
        await self.flush(deadline)

    def abandon(self) -> None:
        """Whatever is still pending fails; for when nothing is being sent any more."""
        for lane in self._lanes.values():
            lane.abandon(Closed("the client was closed before the broker answered"))

    def _partition(
        self, topic: TopicView, asked: int | None, key: bytes | None, size_bytes: int
    ) -> int:
        count = len(topic.partitions)
        if asked is not None:
            if not 0 <= asked < count:
                raise UnknownTopic(f"{topic.name} has partitions 0 to {count - 1}, not {asked}")
            return asked
        if key is not None:
            return partition_of(key, count)
        sticky = self._sticky.get(topic.name)
        if sticky is None:
            sticky = StickyPartition(self._cluster.world.chance.below)
            self._sticky[topic.name] = sticky
        return sticky.take(size_bytes, count)

    def _lane(self, topic: TopicView, partition: int) -> Lane:
        found = self._lanes.get((topic.name, partition))
        if found is None:
            found = Lane(
                topic.name,
                partition,
                self._settings.batch_bytes_max,
                self._cluster.backoff(),
                self._loop.create_future,
            )
            self._lanes[topic.name, partition] = found
        return found

    def _free(self, batch: Batch) -> None:
        del self._pending[batch]
        self._pending_bytes -= batch.size_bytes
        if self._pending_bytes <= self._settings.buffer_bytes_max:
            self._has_room.set()
