"""One connection: versions are agreed upon, answers kept apart, nonsense ends it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from struct import pack

import pytest

from riverlog.client.connection import Connection, ConnectionLost, open_connection
from riverlog.client.errors import Unsupported
from riverlog.config import Address
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.codec import encode
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.frames import FrameSplitter
from riverlog.protocol.headers import read_start
from riverlog.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from riverlog.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from riverlog.protocol.messages.metadata import MetadataRequest
from riverlog.protocol.messages.produce import ProduceRequest

Answer = Callable[[int, int, int], bytes | None]


class Server(asyncio.Protocol):
    """Answers every request (API key, version, correlation id) with what a function says."""

    def __init__(self, answer: Answer, open_ones: list[asyncio.Transport]) -> None:
        self._answer = answer
        self._open_ones = open_ones
        self._frames = FrameSplitter(10**6)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._open_ones.append(transport)

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            reply = self._answer(*read_start(frame))
            if reply is not None:
                self._transport.write(pack(">i", len(reply)) + reply)


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[Address]:
    """A server at an address."""
    open_ones: list[asyncio.Transport] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(answer, open_ones), "127.0.0.1", 0)
    async with server:
        yield Address(*server.sockets[0].getsockname())
        for transport in open_ones:
            transport.abort()
        await asyncio.sleep(0)


def versions(error: int, *served: tuple[ApiKey, int, int]) -> ApiVersionsResponse:
    keys = [ApiVersion(api_key=key, min_version=low, max_version=top) for key, low, top in served]
    return ApiVersionsResponse(error_code=error, api_keys=keys)


def old_broker(key: int, version: int, correlation_id: int) -> bytes:
    """Knows ApiVersions 0 only, and answers newer ones in that form, as Kafka does."""
    start = pack(">i", correlation_id)
    if key != ApiKey.API_VERSIONS:
        return start + encode(HeartbeatResponse(error_code=version), version)
    error = ErrorCode.UNSUPPORTED_VERSION if version else ErrorCode.NONE
    served = [(ApiKey.HEARTBEAT, 0, 1), (ApiKey.PRODUCE, 0, 2), (ApiKey.METADATA, 99, 100)]
    return start + encode(versions(error, *served), 0)


async def opened(address: Address) -> Connection:
    return await open_connection(address, "test", 5)


HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


async def test_the_newest_version_that_both_speak_is_used() -> None:
    async with serving(old_broker) as address:
        connection = await opened(address)
        assert (await connection.ask(HEARTBEAT, HeartbeatResponse, 5)).error_code == 1
        connection.lose("done")


@pytest.mark.parametrize("request_class", [ProduceRequest, MetadataRequest])
async def test_no_common_version_is_said(request_class: type) -> None:
    async with serving(old_broker) as address:
        connection = await opened(address)
        with pytest.raises(Unsupported, match=r"does not serve (Produce|Metadata)"):
            connection.version_of(request_class)
        connection.lose("done")


async def test_requests_are_pipelined_and_answers_keep_their_order() -> None:
    async with serving(old_broker) as address:
        connection = await opened(address)
        waiting = [connection.send(HEARTBEAT, HeartbeatResponse) for _ in range(100)]
        assert len(await asyncio.gather(*waiting)) == 100
        connection.lose("done")


@pytest.mark.parametrize(
    "mangle",
    [
        lambda reply: reply[:3],
        lambda reply: reply[:5],
        lambda reply: pack(">i", 999) + reply[4:],
        lambda reply: b"HTTP/1.1 400 Bad Request",
    ],
)
async def test_nonsense_ends_the_connection(mangle: Callable[[bytes], bytes]) -> None:
    def answer(key: int, version: int, correlation_id: int) -> bytes:
        reply = old_broker(key, version, correlation_id)
        return reply if key == ApiKey.API_VERSIONS else mangle(reply)

    async with serving(answer) as address:
        connection = await opened(address)
        with pytest.raises(ConnectionLost, match="does not speak the protocol"):
            await connection.ask(HEARTBEAT, HeartbeatResponse, 5)
        assert not connection.is_open
        with pytest.raises(ConnectionLost):
            connection.send(HEARTBEAT, HeartbeatResponse)


async def test_an_answer_that_takes_too_long_ends_the_connection_for_all() -> None:
    def answer(key: int, version: int, correlation_id: int) -> bytes | None:
        is_first = key == ApiKey.API_VERSIONS
        return old_broker(key, version, correlation_id) if is_first else None

    async with serving(answer) as address:
        connection = await opened(address)
        other = connection.send(HEARTBEAT, HeartbeatResponse)
        with pytest.raises(ConnectionLost, match="no answer") as lost:
            await connection.ask(HEARTBEAT, HeartbeatResponse, 0.01)
        assert lost.value.was_sent
        with pytest.raises(ConnectionLost):
            await other


async def test_who_stops_waiting_leaves_the_others_their_answers() -> None:
    async with serving(old_broker) as address:
        connection = await opened(address)
        waiting: list[Awaitable[HeartbeatResponse]] = []
        for _ in range(10):
            connection.send(HEARTBEAT, HeartbeatResponse).cancel()
            waiting.append(connection.send(HEARTBEAT, HeartbeatResponse))
        assert len(await asyncio.gather(*waiting)) == 10
        connection.lose("done")
