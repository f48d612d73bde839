"""Large replies in pieces: one a turn, in order, whole, and only while others wait."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from riverlog.kafka.later import Encoded
from riverlog.kafka.sending import PIECE_BYTES, Pieces, Sending
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.metadata import MetadataRequest
from tests.kafka.door import RawClient, listening

LARGE = bytes(range(256)) * (PIECE_BYTES // 256) * 3


class Socket(asyncio.Transport):
    """Takes what it has room for, and keeps what each write added to it."""

    def __init__(self, room: int = 1 << 30, high: int = 64 << 10) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.is_closed = False
        self._room = room
        self._high = high

    @property
    def data(self) -> bytes:
        return b"".join(self.writes)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return max(len(self.data) - self._room, 0)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return 0, self._high

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


class Client:
    """A connection that notes when it has to wait."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def pause_writing(self) -> None:
        self.noted.append("paused")

    def resume_writing(self) -> None:
        self.noted.append("resumed")


def standstill() -> float:
    """The time, while turns take none."""
    return 0.0


async def until(is_so: Callable[[], bool]) -> None:
    """Lets turns of the loop pass, and looks after each."""
    async with asyncio.timeout(10):
        while not is_so():
            await asyncio.sleep(0)


def sending(socket: Socket, pieces: Pieces | None = None) -> tuple[Sending, Client]:
    client = Client()
    return Sending(socket, client, pieces or Pieces(lambda: True, standstill)), client


async def test_a_large_reply_is_one_piece_a_turn_and_arrives_whole() -> None:
    socket = Socket()
    reply, client = sending(socket)
    reply.send([b"length", b"header", LARGE, b"end"])
    assert (socket.writes, client.noted) == ([], ["paused"])
    assert reply.unsent_bytes == len(LARGE) + 15

    counts = [0]

    def is_sent() -> bool:
        counts.append(len(socket.writes))
        return client.noted[-1] == "resumed"

    await until(is_sent)

    assert max(map(len, socket.writes)) <= PIECE_BYTES
    assert max(later - earlier for earlier, later in pairwise(counts)) == 1
    assert socket.data == b"lengthheader" + LARGE + b"end"
    assert client.noted == ["paused", "resumed"]
    assert reply.unsent_bytes == 0


async def test_all_connections_together_send_one_piece_a_turn() -> None:
    pieces = Pieces(lambda: True, standstill)
    sockets = [Socket(), Socket(), Socket()]
    for socket in sockets:
        sending(socket, pieces)[0].send([LARGE])
    counts = [0]

    def are_sent() -> bool:
        per_socket = [len(socket.writes) for socket in sockets]
        assert max(per_socket) - min(per_socket) <= 1
        counts.append(sum(per_socket))
        return counts[-1] == 9

    await until(are_sent)
    assert all(later - earlier <= 1 for earlier, later in pairwise(counts))
    assert [socket.data for socket in sockets] == [LARGE] * 3


async def test_turns_that_take_long_have_room_for_more_pieces_but_not_without_end() -> None:
    now_s = 100.0
    writes_in_turn: list[int] = []

    class SlowSocket(Socket):
        def write(self, data: bytes | bytearray | memoryview) -> None:
            nonlocal now_s
            super().write(data)
            now_s += 0.000_12
            writes_in_turn[-1] += 1

    pieces = Pieces(lambda: True, lambda: now_s)
    for _ in range(8):
        sending(SlowSocket(), pieces)[0].send([LARGE])
    for turn_s in (0.000_4, 0.000_8, 0.001_5, 1, 0):
        now_s += turn_s
        writes_in_turn.append(0)
        await until(lambda: writes_in_turn[-1] > 0)
    assert writes_in_turn == [1, 2, 4, 5, 1]


async def test_what_comes_after_keeps_its_place() -> None:
    socket = Socket()
    reply, client = sending(socket)
    reply.send([LARGE])
    reply.send([b"the ", b"next"])
    await until(lambda: client.noted[-1] == "resumed")
    assert socket.data == LARGE + b"the next"


@pytest.mark.parametrize("parts", [[b"small"], [b"", LARGE[:PIECE_BYTES]]])
async def test_what_is_one_piece_is_sent_at_once(parts: Sequence[bytes]) -> None:
    socket = Socket()
    reply, client = sending(socket)
    reply.send(parts)
    assert socket.writes == [b"".join(parts)]
    assert client.noted == []


async def test_while_nobody_waits_a_large_reply_is_sent_at_once() -> None:
    socket = Socket()
    reply, client = sending(socket, Pieces(lambda: False, standstill))
    reply.send([LARGE])
    assert socket.writes == [LARGE]
    assert client.noted == []


async def test_what_the_socket_does_not_take_is_left_to_the_transport() -> None:
    socket = Socket(room=PIECE_BYTES // 2)
    reply, client = sending(socket)
    reply.send([LARGE])
    await until(lambda: reply.unsent_bytes < len(LARGE))
    assert socket.data == LARGE
    # The transport resumes it, as it would have paused it.
    assert client.noted == ["paused"]
    reply.send([LARGE])
    assert socket.data == LARGE * 2


async def test_little_that_the_socket_does_not_take_keeps_nobody_waiting() -> None:
    socket = Socket(room=len(LARGE) - 100)
    reply, client = sending(socket)
    reply.send([LARGE])
    await until(lambda: client.noted[-1] == "resumed")
    assert socket.data == LARGE
    assert reply.unsent_bytes == 100


async def test_closing_sends_what_is_left_first() -> None:
    socket = Socket()
    reply, _ = sending(socket)
    reply.send([LARGE])
    reply.close()
    assert socket.data == LARGE
    assert socket.is_closed


async def test_one_that_broke_off_holds_up_nobody() -> None:
    pieces = Pieces(lambda: True, standstill)
    gone, other = Socket(), Socket()
    broken, client = sending(gone, pieces)
    broken.send([LARGE])
    gone.is_closed = True
    reply, _ = sending(other, pieces)
    reply.send([LARGE])
    await until(lambda: not reply.unsent_bytes)
    assert gone.writes == []
    assert client.noted == ["paused"]
    assert broken.unsent_bytes == 0
    assert other.data == LARGE


async def test_who_sends_more_as_soon_as_it_may_goes_on() -> None:
    socket = Socket()
    reply, client = sending(socket)
    left = [LARGE, LARGE]

    def send_next() -> None:
        client.noted.append("resumed")
        if left:
            reply.send([left.pop()])

    client.resume_writing = send_next  # type: ignore[method-assign]  # this client goes on by itself
    reply.send([LARGE])
    await until(lambda: len(socket.data) == 3 * len(LARGE))
    assert socket.data == LARGE * 3
    assert client.noted == ["paused", "resumed"] * 3


async def test_large_replies_of_several_clients_come_whole_and_before_what_was_asked_later() -> (
    None
):
    replies = [bytes([number]) + LARGE * 5 for number in range(6)]
    metadata, versions = MetadataRequest(topics=None), ApiVersionsRequest()
    answers = iter(replies)
    async with listening(metadata=lambda _request, _context: Encoded([next(answers)])) as listener:
        clients = [await RawClient.connect(listener) for _ in range(3)]
        for client in clients:
            client.send(metadata, 1)
            client.send(versions, 0)
            client.send(metadata, 1)
        received = []
        for client in clients:
            received.append((await frame(client))[4:])
            assert len(await frame(client)) < 1_000
            received.append((await frame(client))[4:])
            await client.close()
    assert sorted(received) == replies


async def frame(client: RawClient) -> bytes:
    async with asyncio.timeout(30):
        length = int.from_bytes(await client.reader.readexactly(4), "big")
        return await client.reader.readexactly(length)
