"""A cluster as readers of whole topics ask it: from any thread, about places and ranges."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from riverlog.client.cluster import Cluster, parse_bootstrap
from riverlog.client.connection import ConnectionLost
from riverlog.client.coordinator import OUTSIDE, Coordinator, MustRejoin
from riverlog.client.errors import Refused, TimedOut
from riverlog.client.fetcher import Fetched, Fetcher
from riverlog.client.group_offsets import commit
from riverlog.client.loop_thread import LoopThread
from riverlog.client.metadata import TopicView
from riverlog.client.offsets import Place, find, list_offsets
from riverlog.client.settings import ClientSettings, ClientWorld
from riverlog.client.topics import Topics
from riverlog.config import MIB
from riverlog.runtime.tasks import Supervisor

T = TypeVar("T")

# What one answer may hold. Two may wait beside the one under way and the one being decoded.
CHUNK_BYTES_MAX = 8 * MIB
SETTINGS = ClientSettings(
    client_id="riverlog-tables",
    fetch_bytes_max=CHUNK_BYTES_MAX,
    partition_fetch_bytes_max=CHUNK_BYTES_MAX,
)


class Brokers:
    """Connects when it is first asked, keeps its connections until it is closed.

    Every call tries again until the settings' `timeout_ms` has passed, and raises `ClientError`.
    """

    def __init__(self, bootstrap: str, settings: ClientSettings = SETTINGS) -> None:
        addresses = parse_bootstrap(bootstrap)
        world = ClientWorld()
        self._loop = LoopThread(settings.client_id)
        self._cluster = Cluster(addresses, settings, world)
        self._tasks = Supervisor(world.clock, world.chance)
        self._timeout_ms = settings.timeout_ms
        self._fetchers = 0
        self._is_closed = False

    def topics(self) -> Sequence[TopicView]:
        """Every topic there is, internal ones too, by name."""
        return self._run(Topics(self._cluster).list)

    def topic(self, name: str) -> TopicView:
        """One topic as it is now; raises `UnknownTopic`."""
        return self._run(partial(Topics(self._cluster).describe, name))

    def find(self, topic: str, place: Place, partitions: list[int] | None) -> dict[int, int]:
        """The offset that `place` means, in each of the partitions (all of them for None)."""
        return self._run(
            lambda: find(self._cluster, topic, place, partitions, self._cluster.deadline())
        )

    def list_offsets(self, topic: str, times_ms: Mapping[int, int]) -> dict[int, int]:
        """The first offset at or after a time in each partition, -1 where there is none.

        `EARLIEST` and `LATEST` of `client.offsets` are such times too.
        """
        return self._run(
            lambda: list_offsets(self._cluster, topic, times_ms, self._cluster.deadline())
        )

    def commit(self, group: str, offsets: Mapping[str, Mapping[int, int]]) -> None:
        """A group without members has read up to these offsets: durable when it returns.

        Raises `Refused` if the group has members, who alone say how far they are.
        """
        self._run(lambda: self._commit(group, offsets))

    @contextmanager
    def reading(self, topic: str, positions: Mapping[int, int]) -> Iterator["Reading"]:
        """Reads partitions from these offsets on, while the block runs."""
        self._fetchers += 1
        name = f"rows {self._fetchers}"
        fetcher = self._run(partial(self._started, topic, name, dict(positions)))
        try:
            yield Reading(self._loop, fetcher, topic, self._timeout_ms)
        finally:
            self._loop.call(fetcher.close)

    def close(self) -> None:
        """Ends all connections; may be called twice."""
        if not self._is_closed:
            self._is_closed = True
            self._run(self._ended)
            self._loop.close()

    def __enter__(self) -> "Brokers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return self._loop.run(work())

    async def _started(self, topic: str, name: str, positions: dict[int, int]) -> Fetcher:
        # The first requests go to leaders, who have to be known by then.
        await self._cluster.topic(topic, self._cluster.deadline())
        fetcher = Fetcher(self._cluster, self._tasks, topic, name, self._timeout_ms)
        fetcher.read_from(positions)
        return fetcher

    async def _commit(self, group: str, offsets: Mapping[str, Mapping[int, int]]) -> None:
        deadline = self._cluster.deadline()
        backoff = self._cluster.backoff()
        coordinator = Coordinator(self._cluster, group, "commit")
        for topic, reached in offsets.items():
            while True:
                try:
                    await commit(coordinator, OUTSIDE, topic, reached, deadline)
                    break
                except ConnectionLost as lost:
                    await self._cluster.pause(backoff, deadline, lost)
                except MustRejoin as refusal:
                    reason = f"group {group} has members of its own; take another group"
                    raise Refused(str(refusal), reason) from None

    async def _ended(self) -> None:
        await self._tasks.close()
        self._cluster.close()


class Reading:
    """What is being read of one topic."""

    def __init__(self, loop: LoopThread, fetcher: Fetcher, topic: str, timeout_ms: int) -> None:
        self._loop = loop
        self._fetcher = fetcher
        self._topic = topic
        self._timeout_ms = timeout_ms

    def next(self) -> list[Fetched]:
        """Whole batches, some megabytes at most; raises what keeps it from reading on.

        Raises `TimedOut` when the brokers answer and have nothing new for as long as a call may
        take.
        """
        fetched = self._loop.run(self._fetcher.next(self._timeout_ms))
        if fetched is None:
            raise TimedOut(f"{self._topic}: nothing to read came for {self._timeout_ms} ms")
        return fetched

    def stop(self, partition: int) -> None:
        """Reads a partition no further."""
        self._loop.call(self._fetcher.stop, partition)
