"""The values a broker is set up with, and their defaults.

What each is for, its name for people and which values it may have is declared in `settings/`.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

KIB = 1024
MIB = 1024 * KIB


class DoorLimits(NamedTuple):
    """What one listener lets its clients take; `settings/client_limits.py` tells of each."""

    frame_bytes_max: int = 100 * MIB
    other_frame_bytes_max: int = 1 * MIB
    connections_max: int = 10_000
    connections_per_ip_max: int = 2**31 - 1
    requests_in_flight_max: int = 1_000
    bytes_in_flight_max: int = 256 * MIB
    bytes_held_max: int = 256 * MIB
    unread_reply_bytes_max: int = 64 * KIB
    unread_replies_bytes_max: int = 256 * MIB
    fetch_bytes_max: int = 16 * MIB
    idle_ms_max: int = 600_000
    shutdown_ms_max: int = 10_000


class BrokerSettings(NamedTuple):
    """What a broker does unless a client or a topic says otherwise."""

    auto_create_topics: bool = True
    num_partitions: int = 4
    retention_check_ms: int = 300_000
    producer_expiration_ms: int = 86_400_000


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


def environment() -> Mapping[str, str]:
    """The variables of this process. Nothing else here asks for them."""
    return os.environ
