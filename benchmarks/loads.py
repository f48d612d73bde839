"""What the driver in C is told to say: the bytes are made here, it only counts what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """What publishers send. Each request holds so many messages, and gets one answer."""

    protocol: str
    requests: Sequence[bytes]
    hellos: Sequence[bytes] = ()
    """What each publisher says first, in turn."""
    messages_per_request: int = 1
    in_flight: int = 1
    """How many requests a publisher sends before it waits for an answer."""
    error_at: int = 0
    """Where a reply of the Kafka protocol, behind its length, has its error code."""


@dataclass(frozen=True, slots=True)
class Listening:
    """How a consumer begins, and what it goes on to ask where it has to ask."""

    protocol: str
    hello: bytes = b""
    ask: bytes = b""
    offset_at: int = 0
    """Where `ask` has the offset, or the id behind which a stream is read."""
    ack_every: int = 0
    """After how many messages a consumer must give credit; 0: never."""


@dataclass(frozen=True, slots=True)
class Published:
    """What publishers came to. All that was sent was acknowledged."""

    acked: int
    """Messages over the whole time, those of the warm-up too."""
    acks_per_s: float
    p50_us: float
    p99_us: float


@dataclass(frozen=True, slots=True)
class Transferred:
    """How many messages there were, as the broker or the consumer counted them."""

    count: int
    per_s: float


@dataclass(frozen=True, slots=True)
class Delays:
    """From the moment a message was sent until it was delivered; all were, and acknowledged."""

    count: int
    p50_us: float
    p99_us: float
