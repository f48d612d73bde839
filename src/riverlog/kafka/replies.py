"""What a connection remembers of a request: its place in the order, and who sent it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from riverlog.broker.broker import Broker
from riverlog.config import Address
from riverlog.kafka.apis import Context
from riverlog.kafka.later import Encoded, Later, Parked
from riverlog.protocol.codec import Codec
from riverlog.protocol.frames import PREFIX_BYTES
from riverlog.protocol.headers import START_BYTES, read_client_id
from riverlog.protocol.wire import Buffer

# Who calls is remembered for a few versions, unless it is long.
CALLERS_MAX = 32
CALLER_BYTES_MAX = 512


class Reply:
    """The place of one request in the order of replies."""

    __slots__ = (
        "codec",
        "header",
        "is_done",
        "is_overlapping",
        "parts",
        "pending",
        "request_bytes",
    )

    def __init__(self, request_bytes: int, header: bytes, codec: Codec | None) -> None:
        """Without a codec it holds the place of replies that somebody else sends."""
        self.request_bytes = request_bytes
        self.header = header
        self.codec = codec
        self.is_done = False
        self.is_overlapping = False
        self.parts: list[Buffer] | None = None
        self.pending: asyncio.Task[Any] | Later | Parked | None = None

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


class Replies:
    """The replies that one connection owes, in the order of its requests."""

    __slots__ = ("_owed", "ready_bytes")

    def __init__(self) -> None:
        self._owed: deque[Reply] = deque()
        # How much was made ready, since nothing was owed, of what is to be sent.
        self.ready_bytes = 0

    def __len__(self) -> int:
        return len(self._owed)

    @property
    def last(self) -> Reply | None:
        return self._owed[-1] if self._owed else None

    def add(self, reply: Reply) -> None:
        self._owed.append(reply)

    def complete(self, reply: Reply, answer: Any) -> None:
        """Makes a reply ready: it is sent when those before it are."""
        self.ready_bytes += reply.complete(answer)

    def look_again(self) -> None:
        """Completes the last one if it is parked and can be answered now."""
        if not self._owed or not isinstance(parked := self._owed[-1].pending, Parked):
            return
        answer = parked.look()
        if answer is not None:
            self._owed[-1].pending = None
            self.complete(self._owed[-1], answer)

    def take_ready(self) -> tuple[list[Buffer], int] | None:
        """What is to be sent now, and how long the requests were that it answers; if any is."""
        owed = self._owed
        if not owed or not owed[0].is_done:
            return None
        parts: list[Buffer] = []
        answered_bytes = 0
        while owed and owed[0].is_done:
            reply = owed.popleft()
            answered_bytes += reply.request_bytes
            if reply.parts is not None:
                parts += reply.parts
        if not owed:
            self.ready_bytes = 0
        return parts, answered_bytes

    def give_up(self) -> int:
        """Waits for nothing more; how long the requests were that have no answer.

        What a producer sent is kept whether or not it still listens.
        """
        unanswered_bytes = 0
        for reply in self._owed:
            unanswered_bytes += reply.request_bytes
            if reply.pending is not None:
                reply.pending.cancel()
        self._owed.clear()
        return unanswered_bytes


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
