"""The brokers as one: connections to them, what they say of topics, and whom to ask."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from riverlog.client.codes import MOVED, failure
from riverlog.client.connection import Connection, ConnectionLost, open_connection
from riverlog.client.errors import Closed, InvalidArgument, Unconfirmed, UnknownTopic, Unreachable
from riverlog.client.metadata import TopicView, read_brokers, read_topic
from riverlog.client.settings import ClientSettings, ClientWorld
from riverlog.client.waiting import Backoff, Deadline
from riverlog.config import Address, InvalidAddress, parse_address
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

R = TypeVar("R")

# A view of a topic is asked for anew after this long: `metadata.max.age.ms`.
VIEW_AGE_MS_MAX = 300_000

# A topic that is being created is unknown for a moment; after so many looks it is simply missing.
LOOKS_FOR_NEW_TOPIC = 5

# Requests that may wait in the broker have connections of their own: answers keep the order of
# requests, and everything behind such a request would wait with it.
ASKING = "ask"


def parse_bootstrap(text: str) -> list[Address]:
    """Reads "HOST:PORT[,HOST:PORT…]"; raises `InvalidArgument`."""
    try:
        return [parse_address(part.strip()) for part in text.split(",")]
    except InvalidAddress as error:
        raise InvalidArgument(str(error)) from None


class Cluster:
    """Finds and keeps connections, follows leaders. Belongs to one event loop."""

    def __init__(
        self, bootstrap: Sequence[Address], settings: ClientSettings, world: ClientWorld
    ) -> None:
        self.settings = settings
        self.world = world
        self._bootstrap = list(bootstrap)
        self._brokers: dict[int, Address] = {}
        self._views: dict[str, tuple[TopicView, int]] = {}
        self._connections: dict[tuple[Address, str], Connection] = {}
        self._opening: dict[tuple[Address, str], asyncio.Lock] = {}
        self._looking = asyncio.Lock()
        self._is_closed = False

    def deadline(self, timeout_ms: int | None = None) -> Deadline:
        """A deadline from now, after the client's own timeout unless another is given."""
        return Deadline(
            self.world.clock, self.settings.timeout_ms if timeout_ms is None else timeout_ms
        )

    def backoff(self) -> Backoff:
        """New pauses, as this client's settings want them."""
        return Backoff(
            self.world.chance, self.settings.backoff_ms_min, self.settings.backoff_ms_max
        )

    async def connection_to(
        self, node: int, deadline: Deadline, purpose: str = ASKING
    ) -> Connection:
        """A connection to a broker by its node id, or `ConnectionLost`."""
        address = self._brokers.get(node)
        if address is None:
            raise ConnectionLost(f"broker {node} has no known address")
        return await self._connect(address, deadline, purpose)

    async def ask(
        self, request: Any, reply: type[R], deadline: Deadline, *, is_repeatable: bool = True
    ) -> R:
        """The answer of any broker.

        A request whose answer was lost is sent again if it is repeatable, and otherwise raises
        `Unconfirmed`. Raises `Unreachable` when no broker answers in time.
        """
        backoff = self.backoff()
        while True:
            try:
                connection = await self._any_connection(deadline)
                return await connection.ask(request, reply, self._request_s(deadline))
            except ConnectionLost as lost:
                if lost.was_sent and not is_repeatable:
                    raise Unconfirmed(str(lost)) from None
                await self.pause(backoff, deadline, lost)

    async def ask_node(
        self, node: int, request: Any, reply: type[R], deadline: Deadline, purpose: str = ASKING
    ) -> R:
        """The answer of one broker, asked once; raises `ConnectionLost`."""
        connection = await self.connection_to(node, deadline, purpose)
        return await connection.ask(request, reply, self._request_s(deadline))

    async def topic(self, name: str, deadline: Deadline, *, may_create: bool = False) -> TopicView:
        """What is known of a topic, looked up if need be; raises `UnknownTopic`."""
        view = self._fresh(name)
        if view is not None:
            return view
        async with self._looking:
            return self._fresh(name) or await self._look_for(name, deadline, may_create)

    def leader_of(self, topic: str, partition: int) -> int | None:
        """The node that leads a partition, as far as is known; see `forget`."""
        view = self._fresh(topic)
        return None if view is None else view.leader_of(partition)

    def forget(self, topics: Collection[str]) -> None:
        """What is known of these topics is out of date: the next who asks looks again."""
        for topic in topics:
            self._views.pop(topic, None)

    async def nodes(self, deadline: Deadline) -> list[int]:
        """The ids of all brokers there are."""
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        self.learn(await self.ask(request, MetadataResponse, deadline))
        return sorted(self._brokers)

    def learn(self, response: MetadataResponse) -> None:
        """Takes over the addresses of an answer's brokers."""
        self._brokers = read_brokers(response)

    def learn_broker(self, node: int, address: Address) -> None:
        """Takes over the address of one broker."""
        self._brokers[node] = address

    async def pause(self, backoff: Backoff, deadline: Deadline, reason: Exception) -> None:
        """Waits before another try, or raises `Unreachable` if there is no time for one."""
        pause_ms = backoff.next_ms()
        if self._is_closed:
            raise Closed("the client is closed")
        if deadline.left_ms <= pause_ms:
            raise Unreachable(str(reason)) from None
        await self.world.clock.sleep_ms(pause_ms)

    def close(self) -> None:
        """Ends all connections."""
        self._is_closed = True
        for connection in self._connections.values():
            connection.lose("the client is closed")

    def close_purpose(self, purpose: str) -> None:
        """Ends the connections that were opened for a purpose."""
        for key in [key for key in self._connections if key[1] == purpose]:
            self._connections.pop(key).lose("closed")
            self._opening.pop(key, None)

    async def _any_connection(self, deadline: Deadline) -> Connection:
        for (_, purpose), connection in self._connections.items():
            if purpose == ASKING and connection.is_open:
                return connection
        reasons: dict[str, None] = {}
        for address in dict.fromkeys((*self._brokers.values(), *self._bootstrap)):
            try:
                return await self._connect(address, deadline, ASKING)
            except ConnectionLost as lost:
                reasons[str(lost)] = None
        raise ConnectionLost("; ".join(reasons))

    async def _connect(self, address: Address, deadline: Deadline, purpose: str) -> Connection:
        key = (address, purpose)
        found = self._connections.get(key)
        if found is not None and found.is_open:
            return found
        async with self._opening.setdefault(key, asyncio.Lock()):
            found = self._connections.get(key)
            if found is None or not found.is_open:
                if self._is_closed:
                    raise Closed("the client is closed")
                timeout_s = deadline.left_s(self.settings.connect_timeout_ms)
                found = await open_connection(address, self.settings.client_id, timeout_s)
                self._connections[key] = found
        return found

    def _request_s(self, deadline: Deadline) -> float:
        return deadline.left_s(self.settings.request_timeout_ms)

    def _fresh(self, name: str) -> TopicView | None:
        view, seen_ms = self._views.get(name, (None, 0))
        if view is None or self.world.clock.monotonic_ms() - seen_ms > VIEW_AGE_MS_MAX:
            return None
        return view

    async def _look_for(self, name: str, deadline: Deadline, may_create: bool) -> TopicView:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=may_create
        )
        backoff = self.backoff()
        looks = LOOKS_FOR_NEW_TOPIC if may_create else 1
        while True:
            response = await self.ask(request, MetadataResponse, deadline)
            self.learn(response)
            topic = response.topics[0]
            if topic.error_code == ErrorCode.NONE:
                view = read_topic(topic)
                self._views[name] = (view, self.world.clock.monotonic_ms())
                return view
            trouble = failure(topic.error_code, f"topic {name}")
            looks -= isinstance(trouble, UnknownTopic)
            if topic.error_code not in MOVED or looks == 0:
                raise trouble
            await self.pause(backoff, deadline, trouble)
