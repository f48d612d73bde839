"""A connection with no client in between: what was sent is what was written here."""

import socket
import struct
from contextlib import closing
from typing import Any, Protocol, TypeVar

from riverlog.protocol.headers import read_response, request_frame

ANSWER_S_MAX = 10
REFUSED_S = 0.5
CORRELATION_ID = 4711

R = TypeVar("R")


class Listening(Protocol):
    """Whatever can be connected to."""

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...


class RawConnection:
    """Frames, sent and received one at a time."""

    def __init__(self, broker: Listening) -> None:
        address = (broker.host, broker.port)
        self._socket = socket.create_connection(address, timeout=ANSWER_S_MAX)
        self._received = self._socket.makefile("rb")

    def send(self, frame: bytes) -> None:
        """Sends a request that has no length prefix yet."""
        self._socket.sendall(struct.pack(">i", len(frame)) + frame)

    def write(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self._socket.sendall(data)

    def write_until_refused(self, data: bytes) -> None:
        """Sends the same again and again, until nobody has taken any of it for a while."""
        self._socket.settimeout(REFUSED_S)
        try:
            while True:
                self._socket.sendall(data)
        except TimeoutError:
            self._socket.settimeout(ANSWER_S_MAX)

    def is_cut_off(self) -> bool:
        """Whether the broker closes the connection, whatever else it still says."""
        try:
            while self._socket.recv(1 << 16):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True

    def reset(self) -> None:
        """Ends the connection as a crash would, with no goodbye."""
        linger_for_nothing = struct.pack("ii", 1, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_for_nothing)
        self.close()

    def receive(self) -> bytes | None:
        """The next reply without its length prefix; None when the broker has closed."""
        prefix = self._received.read(4)
        if not prefix:
            return None
        (size_bytes,) = struct.unpack(">i", prefix)
        return self._received.read(size_bytes)

    def ask(self, request: Any, version: int, response: type[R]) -> R:  # messages share no type
        """The broker's reply to a request of our own tables."""
        self._socket.sendall(b"".join(request_frame(request, version, CORRELATION_ID, "raw")))
        frame = self.receive()
        assert frame is not None, "the broker closed the connection"
        correlation_id, message = read_response(request, version, frame, response)
        assert correlation_id == CORRELATION_ID
        assert isinstance(message, response)
        return message

    def close(self) -> None:
        self._received.close()
        self._socket.close()


def connected(broker: Listening) -> closing[RawConnection]:
    """A fresh connection, closed at the end of a `with`."""
    return closing(RawConnection(broker))
