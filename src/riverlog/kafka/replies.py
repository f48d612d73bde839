"""What a connection remembers of a request: its place in the order, and who sent it."""

import asyncio
from collections.abc import Callable
from typing import Any

from riverlog.broker.broker import Broker
from riverlog.config import Address
from riverlog.kafka.apis import Context
from riverlog.kafka.later import Encoded
from riverlog.protocol.codec import Codec
from riverlog.protocol.frames import PREFIX_BYTES
from riverlog.protocol.headers import START_BYTES, read_client_id
from riverlog.protocol.wire import Buffer

# Who calls is remembered for a few versions, unless it is long.
CALLERS_MAX = 32
CALLER_BYTES_MAX = 512


class Reply:
    """The place of one request in the order of replies."""

    __slots__ = ("codec", "header", "is_done", "is_overlapping", "parts", "request_bytes", "task")

    def __init__(self, request_bytes: int, header: bytes, codec: Codec | None) -> None:
        """Without a codec it holds the place of replies that somebody else sends."""
        self.request_bytes = request_bytes
        self.header = header
        self.codec = codec
        self.is_done = False
        self.is_overlapping = False
        self.parts: list[Buffer] | None = None
        self.task: asyncio.Task[Any] | None = None

    def complete(self, answer: Any) -> int:
        """Makes the bytes to send of an answer, or none of None; how many there are."""
        self.is_done = True
        if answer is None:
            return 0
        if isinstance(answer, Encoded):
            body = answer.parts
        else:
            assert self.codec is not None, "somebody else sends it"
            body = self.codec.encode(answer)
        size = len(self.header) + sum(map(len, body))
        self.parts = [size.to_bytes(PREFIX_BYTES, "big"), self.header, *body]
        return size


class Caller:
    """The rest of a request header, and what it tells handlers."""

    __slots__ = ("context", "header")

    def __init__(self, header: bytes, context: Context) -> None:
        self.header = header
        self.context = context


class Callers:
    """Who calls on one connection; nearly every request says the same."""

    __slots__ = ("_advertised", "_broker", "_fetch_bytes_max", "_known", "client_host")

    def __init__(
        self, broker: Broker, advertised: Address, fetch_bytes_max: Callable[[], int]
    ) -> None:
        self._broker = broker
        self._advertised = advertised
        self._fetch_bytes_max = fetch_bytes_max
        self._known: dict[tuple[int, bool], Caller] = {}
        self.client_host = ""

    def of(self, frame: bytes, version: int, is_flexible: bool) -> Caller:
        """Reads the rest of a request header; raises `WireError`."""
        caller = self._known.get((version, is_flexible))
        if caller is not None and frame.startswith(caller.header, START_BYTES):
            return caller
        client_id, position = read_client_id(frame, is_flexible)
        if len(self._known) >= CALLERS_MAX:
            self._known.clear()
        host, advertised = self.client_host, self._advertised
        context = Context(self._broker, version, client_id, host, advertised, self._fetch_bytes_max)
        caller = Caller(frame[START_BYTES:position], context)
        if position <= CALLER_BYTES_MAX:
            self._known[version, is_flexible] = caller
        return caller
