"""The driver in C counts what servers say, however it comes in pieces, and takes no for no."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from benchmarks.clients import Driver
from benchmarks.loads import Listening, Load
from benchmarks.peers import amqp_wire as amqp
from benchmarks.rounds import Options

pytestmark = pytest.mark.client("cc")

ASKED_S_MAX = 20


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    return Driver(tmp_path_factory.mktemp("driver"), Options(is_quick=True))


@contextmanager
def serving(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server for one connection, as it likes; the port it is on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(ASKED_S_MAX)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(ASKED_S_MAX)


def trickle(connection: socket.socket, data: bytes) -> None:
    """Sends it in pieces that end where nobody would end one."""
    for at in range(0, len(data), 7):
        connection.sendall(data[at : at + 7])
        time.sleep(0.0005)


def received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            break
        data += piece
    return data


def test_confirms_in_any_order_count_once(driver: Driver) -> None:
    def confirm(tag: int, multiple: int) -> bytes:
        return amqp.method(60, 80, struct.pack(">QB", tag, multiple))

    message = amqp.publishing("queue", b"value")

    def serve(connection: socket.socket) -> None:
        received(connection, len(amqp.confirming()))
        trickle(connection, amqp.method(85, 11, b""))
        received(connection, 4 * len(message))
        trickle(connection, confirm(3, 0) + confirm(1, 0) + confirm(4, 1))

    load = Load("amqp", [message], [amqp.confirming()], in_flight=4)
    with serving(serve) as port:
        assert driver.publish(port, load, 1, count=4).acked == 4


def test_a_nack_is_no_ack(driver: Driver) -> None:
    message = amqp.publishing("queue", b"value")

    def serve(connection: socket.socket) -> None:
        received(connection, len(amqp.confirming()))
        connection.sendall(amqp.method(85, 11, b""))
        received(connection, len(message))
        connection.sendall(amqp.method(60, 120, struct.pack(">QB", 1, 0)))

    load = Load("amqp", [message], [amqp.confirming()])
    with serving(serve) as port, pytest.raises(ConnectionError, match="'refused': 1"):
        driver.publish(port, load, 1, count=1)


def test_an_error_code_of_kafka_is_no_ack(driver: Driver) -> None:
    def serve(connection: socket.socket) -> None:
        received(connection, 5)
        connection.sendall(struct.pack(">iiBhi", 11, 0, 0, 7, 0))

    with serving(serve) as port, pytest.raises(ConnectionError, match="'refused': 1"):
        driver.ask_kafka(port, 1, error_at=5, frames=[b"12345"], count=1)


def test_an_error_of_jetstream_is_no_ack(driver: Driver) -> None:
    greeting, answer = b"CONNECT {}\r\nPING\r\n", b'{"error":{"code":503}}'

    def serve(connection: socket.socket) -> None:
        received(connection, len(greeting))
        trickle(connection, b"INFO {}\r\nPONG\r\n")
        received(connection, 10)
        connection.sendall(b"MSG acks.0 1 %d\r\n%s\r\n" % (len(answer), answer))

    load = Load("nats", [b"PUB a b 0\r"], [greeting])
    with serving(serve) as port, pytest.raises(ConnectionError, match="'refused': 1"):
        driver.publish(port, load, 1, count=1)


def test_entries_of_a_stream_are_read_on_from_the_last_id(driver: Driver) -> None:
    asked: list[bytes] = []

    def entry(number: int) -> bytes:
        return b"*2\r\n$3\r\n1-%d\r\n*2\r\n$1\r\nv\r\n$5\r\nva\r\ne\r\n" % number

    def serve(connection: socket.socket) -> None:
        for first in (0, 2):
            asked.append(connection.recv(100))
            head = b"*1\r\n*2\r\n$1\r\ns\r\n*2\r\n"
            trickle(connection, head + entry(first) + entry(first + 1))
        connection.recv(100)

    with serving(serve) as port:
        listening = Listening("resp", ask=b"READ $1\r\n0\r\n", offset_at=5)
        assert driver.consume(port, listening, 4).count == 4
    assert asked == [b"READ $1\r\n0\r\n", b"READ $3\r\n1-1\r\n"]


def test_a_connection_that_is_lost_is_no_figure(driver: Driver) -> None:
    with serving(lambda connection: None) as port, pytest.raises(ConnectionError):
        driver.publish(port, Load("resp", [b"XADD"]), 1, count=1)
