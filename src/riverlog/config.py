"""Every setting: default, unit, and the reason for it. Kafka's names where Kafka has one."""

from typing import NamedTuple

KIB = 1024
MIB = 1024 * KIB


class DoorLimits(NamedTuple):
    """What one listener lets its clients take.

    Attributes:
        frame_bytes_max: `socket.request.max.bytes`. The largest request; a client that declares
            more is cut off before anything is kept.
        other_frame_bytes_max: The largest request that is no Produce. Reading one of many small
            parts takes the loop 0.2 s for every MiB, so it is kept well below the above.
        connections_max: `max.connections`. Further clients are closed at once.
        requests_in_flight_max: Requests of one connection that may be unanswered at a time; it
            is not read from while it has more.
        bytes_in_flight_max: `queued.max.request.bytes`. Bytes of all requests being answered;
            while there are more, no connection is read from.
        bytes_held_max: Bytes of all unfinished requests. A connection that would push beyond is
            closed: nothing else could free them.
        unread_reply_bytes_max: Replies waiting for one client that does not read; it is not
            read from either until it has caught up.
        idle_ms_max: `connections.max.idle.ms`. A connection without any request for so long is
            closed.
        shutdown_ms_max: How long requests under way may take to finish when the broker stops.
    """

    frame_bytes_max: int = 100 * MIB
    other_frame_bytes_max: int = 4 * MIB
    connections_max: int = 10_000
    requests_in_flight_max: int = 1_000
    bytes_in_flight_max: int = 256 * MIB
    bytes_held_max: int = 256 * MIB
    unread_reply_bytes_max: int = 1 * MIB
    idle_ms_max: int = 600_000
    shutdown_ms_max: int = 10_000


class BrokerSettings(NamedTuple):
    """What a broker does unless a client or a topic says otherwise.

    Attributes:
        auto_create_topics: `auto.create.topics.enable`. A topic that a client asks for by name
            is made, if the client allows it; on, because client libraries' own tests and most
            first steps rely on it.
        num_partitions: `num.partitions`. How many partitions a topic has for which no number is
            given; 4, because client libraries' own tests assume it.
    """

    auto_create_topics: bool = True
    num_partitions: int = 4


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class InvalidAddress(ValueError):
    """The text is no HOST:PORT; the message says what is wrong with it."""


def parse_address(text: str) -> Address:
    """Reads "HOST:PORT", "[IPv6]:PORT" or ":PORT" (loopback); raises `InvalidAddress`."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise InvalidAddress(f"'{text}': write an IPv6 address in brackets, like [::1]:9092")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise InvalidAddress(f"'{text}' is no HOST:PORT, like 127.0.0.1:9092")
    return Address(host=host or "127.0.0.1", port=int(port))
