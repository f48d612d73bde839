"""The client for asyncio; the sync one is made of it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Literal, Unpack, overload

from riverlog.client.cluster import Cluster, parse_bootstrap
from riverlog.client.delivery import AsyncDelivery, OnRecord
from riverlog.client.errors import InvalidArgument
from riverlog.client.group_source import GroupSource
from riverlog.client.groups import Groups
from riverlog.client.lane import Batch
from riverlog.client.outgoing import HeadersLike, NewRecord, Publishable, Published, Text, as_record
from riverlog.client.plain_source import PlainSource
from riverlog.client.producer import Producer
from riverlog.client.publishing import Publishing
from riverlog.client.settings import ClientSettings, ClientWorld
from riverlog.client.source import ReadingOptions, Source
from riverlog.client.subscription import Subscription
from riverlog.client.topics import Topics
from riverlog.records.compression import Codec
from riverlog.runtime.tasks import Supervisor

# After so many records, others get their turn: about 2 ms.
RECORDS_PER_TURN = 500

Compression = Literal["none", "gzip", "snappy", "lz4", "zstd"]


class AsyncClient:
    """Publishes and reads. Belongs to one event loop; `connect_async` makes it.

    Every call has a timeout and tries again until then: through restarts of brokers and changes
    of leaders, without losing or repeating a record.
    """

    def __init__(self, bootstrap: str, settings: ClientSettings, world: ClientWorld) -> None:
        self._cluster = Cluster(parse_bootstrap(bootstrap), settings, world)
        self._tasks = Supervisor(world.clock, world.chance)
        self._producer = Producer(self._cluster, self._tasks)
        self._subscriptions: set[Subscription] = set()
        self._subscription_count = 0
        self.topics = Topics(self._cluster)
        self.groups = Groups(self._cluster)

    async def publish(
        self,
        topic: str,
        value: Text | None,
        *,
        key: Text | None = None,
        headers: HeadersLike | None = None,
        timestamp_ms: int | None = None,
        partition: int | None = None,
        timeout_ms: int | None = None,
    ) -> Published:
        """Publishes a record: it is durable, and in the log once, when this returns.

        Raises `Unconfirmed` when it may or may not be; any other failure means that it is not.
        """
        record = NewRecord(value, key, headers, timestamp_ms, partition)
        publishing = await self.publish_batch(topic, [record], timeout_ms=timeout_ms)
        return (await publishing)[0]

    async def publish_batch(
        self, topic: str, records: Iterable[Publishable], *, timeout_ms: int | None = None
    ) -> Publishing:
        """Publishes many records, in order within each partition.

        Returns when all are on their way, which waits while too many others are; await what it
        gives for where they went, or ask it for a future for each. A record that cannot be sent
        raises `InvalidArgument`; those before it are published.
        """
        deadline = self._cluster.deadline(timeout_ms)
        view = await self._producer.topic(topic, deadline)
        owners: list[tuple[Batch, int, int]] = []
        for number, item in enumerate(records, 1):
            batch, index, partition = self._producer.add(view, as_record(item), deadline)
            owners.append((batch, index, partition))
            if number % RECORDS_PER_TURN == 0:
                await self._cluster.world.clock.sleep_ms(0)
                await self._producer.room(deadline)
        return Publishing(topic, owners)

    @overload
    def subscribe(
        self, topic: str, *, on_record: None = None, **options: Unpack[ReadingOptions]
    ) -> Subscription: ...
    @overload
    def subscribe(
        self, topic: str, *, on_record: OnRecord, **options: Unpack[ReadingOptions]
    ) -> AsyncDelivery: ...
    def subscribe(
        self, topic: str, *, on_record: OnRecord | None = None, **options: Unpack[ReadingOptions]
    ) -> Subscription | AsyncDelivery:
        """The records of a topic, for `async for`; with `on_record`, given to it by a task.

        The topic must exist. `ReadingOptions` says what else there is to choose.
        """
        self._subscription_count += 1
        name = f"fetch {self._subscription_count}"
        group = options.get("group")
        source: Source
        if group is None:
            source = PlainSource(self._cluster, self._tasks, name, topic, options)
        else:
            source = GroupSource(self._cluster, self._tasks, name, topic, group, options)
        subscription = Subscription(source, options, self._subscriptions.discard)
        self._subscriptions.add(subscription)
        if on_record is None:
            return subscription
        return AsyncDelivery(subscription, on_record, self._tasks, f"deliver {name}")

    async def flush(self, timeout_ms: int | None = None) -> None:
        """Returns when the fate of everything published so far is known, or after the timeout."""
        await self._producer.flush(self._cluster.deadline(timeout_ms))

    async def close(self, timeout_ms: int | None = None) -> None:
        """Waits for what is being published, ends subscriptions and connections."""
        await self._producer.close(self._cluster.deadline(timeout_ms))
        for subscription in list(self._subscriptions):
            await subscription.close()
        await self._tasks.close()
        self._producer.abandon()
        self._cluster.close()


@asynccontextmanager
async def connect_async(
    bootstrap: str,
    *,
    client_id: str = "riverlog",
    timeout_ms: int = 30_000,
    compression: Compression = "none",
    settings: ClientSettings | None = None,
) -> AsyncIterator[AsyncClient]:
    """A client of the brokers at "host:port[,host:port]": `async with connect_async(…) as client`.

    Connects when it is first needed. `settings` replaces all the other options.
    """
    chosen = settings or make_settings(client_id, timeout_ms, compression)
    client = AsyncClient(bootstrap, chosen, ClientWorld())
    try:
        yield client
    finally:
        await client.close()


def make_settings(client_id: str, timeout_ms: int, compression: str) -> ClientSettings:
    """The settings for these options; raises `InvalidArgument`."""
    if timeout_ms <= 0:
        raise InvalidArgument("timeout_ms is more than 0")
    try:
        codec = Codec[compression.upper()]
    except KeyError:
        known = ", ".join(codec.name.lower() for codec in Codec)
        raise InvalidArgument(f"compression is one of {known}, not {compression!r}") from None
    return ClientSettings(
        client_id=client_id,
        timeout_ms=timeout_ms,
        compression=codec,
    )
