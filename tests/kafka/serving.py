"""A whole broker on a simulated disk behind a real listener, and a client that asks it things."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from riverlog.broker.broker import Broker, World
from riverlog.config import Address, BrokerSettings, DoorLimits
from riverlog.groups.settings import GroupSettings
from riverlog.kafka.apis import served
from riverlog.kafka.listener import Listener
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from riverlog.runtime.clock import SystemClock
from riverlog.stores.syncer import Done, InlineSyncer, Job
from riverlog.testing.disk_contents import Survival
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import SimulatedDisk
from tests.kafka.door import RawClient


def batch_of(*times_ms: int) -> bytes:
    """A batch with one record for each time."""
    return build_batch(
        [Record(number, time_ms, None, b"value") for number, time_ms in enumerate(times_ms)]
    )


# Whoever tests how members come together sets another delay.
QUICK_GROUPS = GroupSettings(initial_delay_ms=10)


class HoldableSyncer:
    """Syncs at once, or while it is held only when it is let go."""

    def __init__(self) -> None:
        self._held: list[Callable[[], None]] | None = None

    def hold(self) -> None:
        self._held = []

    def let_go(self) -> None:
        held, self._held = self._held or [], None
        for run in held:
            run()

    @property
    def held_count(self) -> int:
        return len(self._held or ())

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        if self._held is None:
            InlineSyncer().run(jobs, done)
        else:
            self._held.append(lambda: InlineSyncer().run(jobs, done))

    def run_apart(self, job: Job, done: Done) -> None:
        InlineSyncer().run_apart(job, done)

    def close(self) -> None:
        pass


class Serving:
    """The broker, its disk and one connected client; `serving` makes it."""

    def __init__(self, settings: BrokerSettings, *, has_express: bool = True) -> None:
        self._settings = settings
        self._has_express = has_express
        self.disk = SimulatedDisk(Random(1))
        self.disk.make_directory("data")
        self.disk.sync_directory("")
        self.syncer = HoldableSyncer()
        self.broker: Broker
        self.listener: Listener
        self._clients: list[RawClient] = []

    async def open(self) -> None:
        damage: list[object] = []
        world = World(self.disk, self.syncer, SystemClock(), SeededChance(1), damage.append)
        self.broker = await Broker.open(
            world, "data", settings=self._settings, group_settings=QUICK_GROUPS
        )
        address = Address(host="127.0.0.1", port=0)
        limits = DoorLimits(shutdown_ms_max=100)
        self.listener = Listener(
            self.broker,
            served(),
            address,
            None,
            limits,
            SystemClock(),
            has_express=self._has_express,
        )
        await self.listener.open()
        await self.connect()

    async def leave(self) -> None:
        """Ends the connections; the broker is not told that it ends."""
        for client in self._clients:
            await client.close()
        self._clients = []
        await self.listener.close()

    async def restart(self) -> None:
        """Stops it cleanly and starts it again."""
        await self.leave()
        await self.broker.close()
        await self.open()

    async def cut_power(self) -> None:
        """Starts it again after a power cut that took all it could."""
        await self.leave()
        self.disk = self.disk.power_cut(Survival.NOTHING)
        await self.open()

    async def ask(self, request: Any, version: int) -> Any:
        """The reply to a request."""
        return await self._clients[0].ask(request, version)

    async def connect(self) -> RawClient:
        """Another client, connected until the broker ends."""
        self._clients.append(await RawClient.connect(self.listener))
        return self._clients[-1]

    async def create(self, name: str, partitions: int = 1) -> CreatableTopicResult:
        """Makes a topic."""
        topic = CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[]
        )
        response = await self.ask(CreateTopicsRequest(topics=[topic]), 7)
        result: CreatableTopicResult = response.topics[0]
        assert result.error_code == 0, result
        return result

    async def produce(self, topic: str, *times_ms: int, partition: int = 0, acks: int = -1) -> int:
        """Appends one batch, with one record for each time; gives its first offset."""
        data = PartitionProduceData(index=partition, records=batch_of(*times_ms))
        request = ProduceRequest(
            acks=acks,
            timeout_ms=1000,
            topic_data=[TopicProduceData(name=topic, partition_data=[data])],
        )
        response = await self.ask(request, 9)
        result: PartitionProduceResponse = response.responses[0].partition_responses[0]
        assert result.error_code == 0, result
        return result.base_offset


@asynccontextmanager
async def serving(
    settings: BrokerSettings | None = None, *, has_express: bool = True
) -> AsyncIterator[Serving]:
    """A running broker, with its client connected."""
    running = Serving(settings or BrokerSettings(), has_express=has_express)
    await running.open()
    try:
        yield running
    finally:
        await running.leave()
