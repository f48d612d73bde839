"""The client for code without asyncio; any thread may use it."""

from collections.abc import Callable, Iterable
from typing import Unpack, overload

from riverlog.client.async_client import AsyncClient, Compression, make_settings
from riverlog.client.loop_thread import LoopThread
from riverlog.client.outgoing import HeadersLike, Publishable, Published, Text
from riverlog.client.received import ReceivedRecord
from riverlog.client.settings import ClientSettings, ClientWorld
from riverlog.client.source import ReadingOptions
from riverlog.client.subscription import Subscription
from riverlog.client.sync_groups import SyncGroups
from riverlog.client.sync_publishing import SyncPublishing
from riverlog.client.sync_subscription import Delivery, SyncSubscription
from riverlog.client.sync_topics import SyncTopics

OnRecord = Callable[[ReceivedRecord], object]


class Client:
    """Publishes and reads, from any thread; `connect` makes it, `with` closes it.

    What the calls promise is said at `AsyncClient`, which does the work.
    """

    def __init__(self, bootstrap: str, settings: ClientSettings) -> None:
        self._loop = LoopThread(settings.client_id)
        try:
            self._client = self._loop.run(_made(bootstrap, settings))
        except BaseException:
            self._loop.close()
            raise
        self._is_closed = False
        self.topics = SyncTopics(self._loop, self._client.topics)
        self.groups = SyncGroups(self._loop, self._client.groups)

    def publish(
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
        """Publishes a record: it is durable, and in the log once, when this returns."""
        return self._loop.run(
            self._client.publish(
                topic,
                value,
                key=key,
                headers=headers,
                timestamp_ms=timestamp_ms,
                partition=partition,
                timeout_ms=timeout_ms,
            )
        )

    def publish_batch(
        self, topic: str, records: Iterable[Publishable], *, timeout_ms: int | None = None
    ) -> SyncPublishing:
        """Publishes many records, in order within each partition; ask what it gives for results.

        The records are taken in another thread: an iterator must not depend on this one.
        """
        publishing = self._client.publish_batch(topic, records, timeout_ms=timeout_ms)
        return SyncPublishing(self._loop, self._loop.run(publishing))

    @overload
    def subscribe(
        self, topic: str, *, on_record: None = None, **options: Unpack[ReadingOptions]
    ) -> SyncSubscription: ...
    @overload
    def subscribe(
        self, topic: str, *, on_record: OnRecord, **options: Unpack[ReadingOptions]
    ) -> Delivery: ...
    def subscribe(
        self, topic: str, *, on_record: OnRecord | None = None, **options: Unpack[ReadingOptions]
    ) -> SyncSubscription | Delivery:
        """The records of a topic, for `for`; with `on_record`, given to it in another thread.

        `ReadingOptions` says what else there is to choose. Where it begins is fixed when this
        returns: what is published later is read.
        """
        subscription = self._loop.run(_opened(self._client, topic, options))
        found = SyncSubscription(self._loop, subscription, options.get("on_rebalance"))
        return found if on_record is None else Delivery(found, on_record)

    def flush(self, timeout_ms: int | None = None) -> None:
        """Returns when the fate of everything published so far is known, or after the timeout."""
        self._loop.run(self._client.flush(timeout_ms))

    def close(self, timeout_ms: int | None = None) -> None:
        """Waits for what is being published, ends subscriptions and connections."""
        if not self._is_closed:
            self._is_closed = True
            self._loop.run(self._client.close(timeout_ms))
            self._loop.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Whoever presses Ctrl-C does not want to wait for a broker that does not answer.
        self.close(timeout_ms=0 if kind is KeyboardInterrupt else None)


def connect(
    bootstrap: str,
    *,
    client_id: str = "riverlog",
    timeout_ms: int = 30_000,
    compression: Compression = "none",
    settings: ClientSettings | None = None,
) -> Client:
    """A client of the brokers at "host:port[,host:port]": `with connect(…) as client`.

    Connects when it is first needed. `settings` replaces all the other options.
    """
    return Client(bootstrap, settings or make_settings(client_id, timeout_ms, compression))


async def _made(bootstrap: str, settings: ClientSettings) -> AsyncClient:
    """A client of the loop that this runs in."""
    return AsyncClient(bootstrap, settings, ClientWorld())


async def _opened(client: AsyncClient, topic: str, options: ReadingOptions) -> Subscription:
    subscription = client.subscribe(topic, **options)
    try:
        return await subscription
    except BaseException:
        await subscription.close()
        raise
