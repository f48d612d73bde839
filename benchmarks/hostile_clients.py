"""Clients that lean on a broker, each in its own way, for as long as they are let.

Each is a function of a port, of what they tell when they have begun, and of what tells them to
end; it gives how often it did what it does. They run in a thread of the benchmark's process, which
has nothing else to do meanwhile.
"""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any, BinaryIO

from benchmarks.batches import PRODUCE_VERSION, produce_request
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from riverlog.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.record import Record

REPLY_S_MAX = 60
INT32_MAX = 2**31 - 1
LARGE_TOPIC, COMPACTED_TOPIC = "large", "compacted"
LORISES, PIPELINED, PARTITIONS_ASKED = 100, 1_000, 30_000
CONNECTS_PER_S = 500
BOMB_VALUE_BYTES = 100 << 20
TINY_RECORDS = 200_000
SLOW_READ_BYTES, READS_PER_FETCH = 16 << 10, 32

Told = threading.Event
Hostile = Callable[[int, Told, Told], int]


@contextmanager
def beside(hostile: Hostile, port: int) -> Iterator[list[int]]:
    """Lets it act while the block runs; the list then has how often it did."""
    begun, is_over = threading.Event(), threading.Event()
    acts: list[int] = []

    def act() -> None:
        try:
            acts.append(hostile(port, begun, is_over))
        finally:
            begun.set()

    thread = threading.Thread(target=act)
    thread.start()
    begun.wait()
    try:
        yield acts
    finally:
        is_over.set()
        thread.join()


def idle_beside_slow_reading(count: int) -> Hostile:
    """So many connections that say nothing, and a consumer that reads some KiB now and then."""

    def act(port: int, begun: Told, is_over: Told) -> int:
        with ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(_connected(port))
            reading = stack.enter_context(_connected(port))
            reading.settimeout(0)
            frame = _frame(_huge_fetch(), 12)
            begun.set()
            reads = 0
            while not is_over.wait(0.01):
                if reads % READS_PER_FETCH == 0:
                    reading.sendall(frame)
                with suppress(BlockingIOError):
                    reading.recv(SLOW_READ_BYTES)
                reads += 1
            return reads

    return act


def slow_loris(port: int, begun: Told, is_over: Told) -> int:
    """Many connections, each of which sends its request one byte at a time."""
    frame = _frame(_huge_fetch(), 12)[:-1]
    with ExitStack() as stack:
        lorises = [stack.enter_context(_connected(port)) for _ in range(LORISES)]
        begun.set()
        for at in range(len(frame)):
            for loris in lorises:
                loris.sendall(frame[at : at + 1])
            if is_over.wait(0.05):
                return at * LORISES
        is_over.wait()
        return len(frame) * LORISES


def pipelining(port: int, begun: Told, is_over: Told) -> int:
    """One connection that sends a thousand requests at a time, and reads every reply."""
    request = ApiVersionsRequest(client_software_name="flood", client_software_version="1")
    flood = _frame(request, 3) * PIPELINED
    return _asking(flood, PIPELINED, port, begun, is_over)


def bombs(port: int, begun: Told, is_over: Told) -> int:
    """A batch that inflates to 100 MiB, for a topic whose batches are opened, again and again."""
    return _asking(_bomb(), 1, port, begun, is_over)


def many_small_records(port: int, begun: Told, is_over: Told) -> int:
    """A batch of 200,000 records with keys, small on the wire, for such a topic."""
    return _asking(_tiny_records(), 1, port, begun, is_over)


def huge_fetches(port: int, begun: Told, is_over: Told) -> int:
    """Fetches of all that a large topic has, as much as it will give at a time."""
    return _asking(_frame(_huge_fetch(), 12), 1, port, begun, is_over)


def wide_fetches(port: int, begun: Told, is_over: Told) -> int:
    """Fetches of as many partitions as a request can name, none of which is there."""
    asked = [
        FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1)
        for index in range(PARTITIONS_ASKED)
    ]
    topics = [FetchTopic(topic="nowhere", partitions=asked)]
    frame = _frame(FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics), 12)
    return _asking(frame, 1, port, begun, is_over)


def joining(port: int, begun: Told, is_over: Told) -> int:
    """JoinGroups without a member id, a thousand at a time: each is given a fresh one."""
    request = JoinGroupRequest(
        group_id="crowd",
        session_timeout_ms=6_000,
        rebalance_timeout_ms=6_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    return _asking(_frame(request, 5) * PIPELINED, PIPELINED, port, begun, is_over)


def connecting(port: int, begun: Told, is_over: Told) -> int:
    """500 new connections a second, each closed at once."""
    begun.set()
    started_s, count = time.monotonic(), 0
    while not is_over.is_set():
        with suppress(OSError):
            _connected(port).close()
        count += 1
        ahead_s = count / CONNECTS_PER_S - (time.monotonic() - started_s)
        if ahead_s > 0:
            is_over.wait(ahead_s)
    return count


def _asking(sent: bytes, replies: int, port: int, begun: Told, is_over: Told) -> int:
    """Sends the same thing again whenever it was answered in full."""
    count = 0
    with _connected(port) as connection, connection.makefile("rb") as received:

        def send() -> None:
            with suppress(OSError):
                while not is_over.is_set():
                    connection.sendall(sent)
                    answered.wait()
                    answered.clear()

        def end() -> None:
            is_over.wait()
            answered.set()
            connection.shutdown(socket.SHUT_RDWR)

        answered = threading.Event()
        threads = [threading.Thread(target=work) for work in (send, end)]
        for thread in threads:
            thread.start()
        begun.set()
        while _has_reply(received, is_over):
            count += 1
            if count % replies == 0:
                answered.set()
        for thread in threads:
            thread.join()
    return count


def _has_reply(received: BinaryIO, is_over: Told) -> bool:
    """Reads one more reply; False in the end. Raises if the broker ended it."""
    try:
        prefix = received.read(4)
        if len(prefix) == 4:
            received.read(*struct.unpack(">i", prefix))
            return True
    except ConnectionError:
        prefix = b""
    if not is_over.is_set():
        raise ConnectionError("the broker closed the connection")
    return False


def _huge_fetch() -> FetchRequest:
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=INT32_MAX)
    topics = [FetchTopic(topic=LARGE_TOPIC, partitions=[asked])]
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=INT32_MAX, topics=topics)


@cache
def _bomb() -> bytes:
    record = Record(0, _now_ms(), b"key", bytes(BOMB_VALUE_BYTES))
    return _produce(build_batch([record], codec=Codec.ZSTD))


@cache
def _tiny_records() -> bytes:
    now_ms = _now_ms()
    records = (Record(offset, now_ms, b"k", None) for offset in range(TINY_RECORDS))
    return _produce(build_batch(records, codec=Codec.ZSTD))


def _produce(batch: bytes) -> bytes:
    return _frame(produce_request(COMPACTED_TOPIC, 0, batch), PRODUCE_VERSION)


def _frame(request: Any, version: int) -> bytes:  # messages share no type
    return b"".join(request_frame(request, version, 0, "hostile"))


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), REPLY_S_MAX)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
