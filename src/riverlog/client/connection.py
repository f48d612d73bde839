"""One connection to one broker: requests out, answers back in the same order."""

import asyncio
import os
from collections import deque
from struct import Struct
from typing import Any, NamedTuple, TypeVar

from riverlog import __version__
from riverlog.client.errors import Unsupported
from riverlog.config import MIB, Address
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.codec import decode
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.frames import FrameSplitter
from riverlog.protocol.headers import read_response, request_frame
from riverlog.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from riverlog.protocol.wire import WireError

R = TypeVar("R")

FRAME_BYTES_MAX = 128 * MIB

# Later versions name topics by id, which costs a look-up and gains us nothing yet.
_VERSIONS_MAX = {
    ApiKey.PRODUCE: 12,
    ApiKey.FETCH: 12,
    ApiKey.OFFSET_COMMIT: 9,
    ApiKey.OFFSET_FETCH: 9,
}
_VERSIONS_ASKED = 3
_REPLY_START = Struct(">ih")


class ConnectionLost(Exception):
    """There is no connection (any more). `was_sent` tells whether the request may have arrived."""

    def __init__(self, reason: str, *, was_sent: bool = False) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


class _Waiting(NamedTuple):
    correlation_id: int
    request: Any  # one of the request tables, which have no common base
    version: int
    reply: type
    answered: asyncio.Future[Any]  # of a `reply`


class Connection(asyncio.Protocol):
    """A connection whose broker has told which versions it serves; `open_connection` makes it."""

    def __init__(self, address: Address, client_id: str) -> None:
        self.address = address
        self._client_id = client_id
        self._transport: asyncio.Transport | None = None
        self._frames = FrameSplitter(FRAME_BYTES_MAX)
        self._waiting: deque[_Waiting] = deque()
        self._correlation_id = 0
        self._served: dict[int, tuple[int, int]] = {}

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    def version_of(self, request: type) -> int:
        """The newest version of a request that both sides speak, or `Unsupported`."""
        table: Any = request  # a class of a table, which has these attributes by its decorator
        key = ApiKey(table.API_KEY)
        first, last = self._served.get(key, (0, -1))
        newest: int = min(last, table.VERSIONS.last, _VERSIONS_MAX.get(key, last))
        if newest < max(first, table.VERSIONS.first):
            call = key.name.title().replace("_", "")
            raise Unsupported(f"the broker at {self.address} does not serve {call} to us")
        return newest

    def send(self, request: Any, reply: type[R]) -> asyncio.Future[R]:
        """Sends a request; the future gives its answer, or raises `ConnectionLost`.

        A plain `def` on purpose: requests leave in call order.
        """
        version = self.version_of(type(request))
        return self._send(request, reply, version)

    async def ask(self, request: Any, reply: type[R], timeout_s: float) -> R:
        """The answer to a request. When none comes in time the connection is given up."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self.send(request, reply)
        except TimeoutError:
            self.lose(f"no answer from {self.address} within {timeout_s:.1f} s")
            raise ConnectionLost(
                f"no answer from {self.address} within {timeout_s:.1f} s", was_sent=True
            ) from None

    def lose(self, reason: str) -> None:
        """Ends the connection; whoever waits for an answer is told."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        waiting, self._waiting = self._waiting, deque()
        for waits in waiting:
            if not waits.answered.done():
                waits.answered.set_exception(ConnectionLost(reason, was_sent=True))
                # Whoever sent it may have been cancelled; nobody else is to be bothered then.
                waits.answered.exception()

    async def learn_versions(self) -> None:
        """Asks the broker what it serves; an old one answers a newer question in the oldest way."""
        request = ApiVersionsRequest(
            client_software_name="riverlog", client_software_version=__version__
        )
        response = await self._send(request, ApiVersionsResponse, _VERSIONS_ASKED)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            response = await self._send(request, ApiVersionsResponse, 0)
        self._served = {
            api.api_key: (api.min_version, api.max_version) for api in response.api_keys
        }

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP gives a transport for both ways"
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.lose(f"{self.address} closed the connection" if exc is None else str(exc))

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                self._answer(frame)
        except WireError as error:
            self.lose(f"{self.address} does not speak the protocol: {error}")

    def _send(self, request: Any, reply: type[R], version: int) -> asyncio.Future[R]:
        if self._transport is None:
            raise ConnectionLost(f"{self.address} closed the connection")
        answered: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        frame = request_frame(request, version, self._correlation_id, self._client_id)
        self._transport.writelines(frame)
        self._waiting.append(_Waiting(self._correlation_id, request, version, reply, answered))
        return answered

    def _answer(self, frame: bytes) -> None:
        if not self._waiting:
            raise WireError("an answer to nothing")
        waits = self._waiting[0]
        if waits.reply is ApiVersionsResponse and _is_unsupported(frame):
            correlation_id = int.from_bytes(frame[:4], "big")
            message: object = decode(ApiVersionsResponse, 0, frame[4:])
        else:
            correlation_id, message = read_response(
                waits.request, waits.version, frame, waits.reply
            )
        if correlation_id != waits.correlation_id:
            raise WireError(f"answer {correlation_id} instead of {waits.correlation_id}")
        self._waiting.popleft()
        if not waits.answered.done():
            waits.answered.set_result(message)


def _is_unsupported(frame: bytes) -> bool:
    """Whether an ApiVersions answer has the oldest form, as one to a version too new has."""
    if len(frame) < _REPLY_START.size:
        raise WireError("an answer is cut short")
    _, error_code = _REPLY_START.unpack_from(frame)
    return bool(error_code == ErrorCode.UNSUPPORTED_VERSION)


async def open_connection(address: Address, client_id: str, timeout_s: float) -> Connection:
    """A connection that is ready to be asked, or `ConnectionLost`."""
    connection = Connection(address, client_id)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout_s):
            await loop.create_connection(lambda: connection, address.host, address.port)
            await connection.learn_versions()
    except TimeoutError:
        connection.lose("it took too long to connect")
        raise ConnectionLost(f"{address} does not answer within {timeout_s:.1f} s") from None
    except OSError as error:
        # asyncio's own text repeats the address, as a tuple.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise ConnectionLost(f"{address}: {reason.lower()}") from None
    except ConnectionLost as lost:
        raise ConnectionLost(str(lost)) from None
    except BaseException:
        connection.lose("connecting was given up")
        raise
    return connection
