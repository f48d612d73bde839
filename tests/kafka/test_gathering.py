"""Parts go to the socket as they lie: whole, in order, and what it does not take goes later."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from riverlog.kafka.gathering import GATHERED_BYTES_MIN, PARTS_MAX, write_gathered

LARGE = bytes(range(256)) * 16_384


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.Transport, socket.socket]]:
    ours, theirs = socket.socketpair()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(asyncio.Protocol, sock=ours)
    try:
        yield transport, theirs
    finally:
        transport.abort()
        theirs.close()
        await asyncio.sleep(0)


async def received(theirs: socket.socket, size: int) -> bytes:
    theirs.setblocking(False)
    loop = asyncio.get_running_loop()
    data = b""
    async with asyncio.timeout(10):
        while len(data) < size:
            data += await loop.sock_recv(theirs, 1 << 20)
    return data


@pytest.mark.parametrize(
    "parts",
    [
        [b"length", b"header", memoryview(LARGE), b"", bytearray(b"end")],
        [b"a", LARGE[: GATHERED_BYTES_MIN // 2], b"z"],
        [LARGE[:100] for _ in range(PARTS_MAX + 1)],
        [LARGE, LARGE[5:], b"x"],
    ],
    ids=["more than the socket takes", "little", "too many parts", "two large ones"],
)
async def test_parts_arrive_whole_and_in_order(parts: Sequence[bytes]) -> None:
    wanted = b"".join(parts)
    async with connected() as (transport, theirs):
        write_gathered(transport, parts)
        transport.write(b"and more")
        assert await received(theirs, len(wanted) + 8) == wanted + b"and more"


async def test_what_the_transport_still_has_to_send_goes_first() -> None:
    async with connected() as (transport, theirs):
        transport.write(LARGE)
        assert transport.get_write_buffer_size()
        write_gathered(transport, [b"<", LARGE, b">"])
        wanted = LARGE + b"<" + LARGE + b">"
        assert await received(theirs, len(wanted)) == wanted


async def test_room_that_has_come_since_is_for_what_waits_longer() -> None:
    async with connected() as (transport, theirs):
        transport.write(LARGE)
        # The socket could take more now; the transport has not had a turn to see it.
        begun = theirs.recv(1 << 20)
        assert transport.get_write_buffer_size()
        write_gathered(transport, [b"<", LARGE, b">"])
        wanted = LARGE + b"<" + LARGE + b">"
        assert begun + await received(theirs, len(wanted) - len(begun)) == wanted


async def test_a_client_that_is_gone_ends_the_connection_as_ever() -> None:
    lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

    class Noting(asyncio.Protocol):
        def connection_lost(self, error: Exception | None) -> None:
            lost.set_result(error)

    ours, theirs = socket.socketpair()
    transport, _ = await asyncio.get_running_loop().create_connection(Noting, sock=ours)
    transport.pause_reading()
    theirs.close()
    write_gathered(transport, [b"head", LARGE])
    assert isinstance(await asyncio.wait_for(lost, 5), OSError)
