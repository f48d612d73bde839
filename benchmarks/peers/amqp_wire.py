"""Frames of AMQP 0-9-1, as far as publishing with confirms and consuming need them."""

import socket
import struct
from collections.abc import Mapping
from typing import NamedTuple

METHOD, HEADER, BODY = 1, 2, 3
FRAME_END = b"\xce"
CHANNEL = 1
FRAME_BYTES_MAX = 131072
REPLY_S_MAX = 60

OPEN_OK = (10, 41)
CHANNEL_OPEN_OK = (20, 11)
DECLARE_OK = (50, 11)
DELETE_OK = (50, 41)
CLOSES = {(10, 50), (20, 40)}


class Refusal(ConnectionError):
    """The server closed the channel or the connection, and said why."""


class Method(NamedTuple):
    """What a server says: which method, and its arguments as they came."""

    name: tuple[int, int]
    arguments: bytes


def greeting() -> bytes:
    """All that opens a connection and channel 1; the server answers in its own time."""
    credentials = b"\0guest\0guest"
    start_ok = table({}) + short("PLAIN") + struct.pack(">I", len(credentials)) + credentials
    tune_ok = struct.pack(">HIH", 16, FRAME_BYTES_MAX, 0)
    return (
        b"AMQP\0\0\x09\x01"
        + method(10, 11, start_ok + short("en_US"), channel=0)
        + method(10, 31, tune_ok, channel=0)
        + method(10, 40, short("/") + short("") + b"\0", channel=0)
        + method(20, 10, short(""))
    )


def confirming() -> bytes:
    """Greets, and asks for a confirm of every message."""
    return greeting() + method(85, 10, b"\0")


def consuming(queue: str, prefetch: int, arguments: Mapping[str, str]) -> bytes:
    """Greets and consumes; with a prefetch of 0 nothing has to be acknowledged."""
    qos = method(60, 10, struct.pack(">IHB", 0, prefetch, 0)) if prefetch else b""
    is_without_acks = 0 if prefetch else 0b10
    consume = struct.pack(">H", 0) + short(queue) + short("") + bytes([is_without_acks])
    return greeting() + qos + method(60, 20, consume + table(arguments))


def publishing(queue: str, value: bytes) -> bytes:
    """A persistent message to a queue."""
    to = struct.pack(">H", 0) + short("") + short(queue) + b"\0"
    properties = struct.pack(">HHQHB", 60, 0, len(value), 0x1000, 2)
    return method(60, 40, to) + frame(HEADER, properties) + frame(BODY, value)


def declaring(queue: str, arguments: Mapping[str, str], *, is_passive: bool = False) -> bytes:
    """Makes a durable queue, or asks about one."""
    flags = 0b01 if is_passive else 0b10
    return method(50, 10, struct.pack(">H", 0) + short(queue) + bytes([flags]) + table(arguments))


def frame(kind: int, payload: bytes, channel: int = CHANNEL) -> bytes:
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + FRAME_END


def method(group: int, number: int, arguments: bytes, channel: int = CHANNEL) -> bytes:
    return frame(METHOD, struct.pack(">HH", group, number) + arguments, channel)


def short(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def table(entries: Mapping[str, str]) -> bytes:
    body = b"".join(
        short(name) + b"S" + struct.pack(">I", len(value)) + value.encode()
        for name, value in entries.items()
    )
    return struct.pack(">I", len(body)) + body


class AmqpConnection:
    """One connection, for what is asked once; the driver makes its own."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), REPLY_S_MAX)
        self._received = self._socket.makefile("rb")
        self._socket.sendall(greeting())
        self._await(CHANNEL_OPEN_OK)

    def declare(self, queue: str, arguments: Mapping[str, str]) -> None:
        """The queue is there when this returns."""
        self._socket.sendall(declaring(queue, arguments))
        self._await(DECLARE_OK)

    def message_count(self, queue: str) -> int:
        """How many messages wait in it."""
        self._socket.sendall(declaring(queue, {}, is_passive=True))
        found: tuple[int, int] = struct.unpack(">II", self._await(DECLARE_OK).arguments[-8:])
        return found[0]

    def _await(self, name: tuple[int, int]) -> Method:
        while True:
            kind, _, size = struct.unpack(">BHI", self._exactly(7))
            payload = self._exactly(size + 1)[:-1]
            if kind != METHOD:
                continue
            group, number = struct.unpack(">HH", payload[:4])
            said = Method((group, number), payload[4:])
            if said.name in CLOSES:
                raise Refusal(said.arguments[3:].decode(errors="replace"))
            if said.name == name:
                return said

    def _exactly(self, size: int) -> bytes:
        data = self._received.read(size)
        if len(data) < size:
            raise ConnectionError("the server closed the connection")
        return data

    def close(self) -> None:
        self._received.close()
        self._socket.close()
