"""What the conformance tests ask of every client, in one set of words."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from typing import Protocol

Headers = tuple[tuple[str, bytes | None], ...]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

# A client that has not done what it was asked by then never will.
DEADLINE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Record:
    """A record as clients see it."""

    partition: int = 0
    key: bytes | None = None
    value: bytes | None
    headers: Headers = ()
    timestamp_ms: int

    def __repr__(self) -> str:
        # A value may be a megabyte; its ends are enough to tell it by.
        value = reprlib.repr(self.value)
        parts = self.partition, self.key, value, self.headers, self.timestamp_ms
        return "Record(partition={}, key={}, value={}, headers={}, timestamp_ms={})".format(*parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What a client has learnt of a cluster: brokers as (id, host, port), partitions by topic."""

    cluster_id: str | None
    controller_id: int
    brokers: tuple[tuple[int, str, int], ...]
    topics: Mapping[str, int]


class ClientFailed(Exception):
    """A client could not do what it was asked; the message is its own."""


class Lack(Flag):
    """What one or another client cannot do."""

    NOTHING = 0
    TIMESTAMPS = auto()  # It writes the time of its own clock.
    NULL_HEADERS = auto()  # Header values it writes are never null.
    REPEATED_HEADERS = auto()  # A header's name stands once in a record that it writes.
    CLUSTER_ID = auto()  # It does not show it.


def missing(counts: Mapping[str, int], found: Mapping[str, Sequence[Record]]) -> str:
    """Says how many records of which topics did not come in time."""
    short = {topic: count - len(found[topic]) for topic, count in counts.items()}
    named = {topic: count for topic, count in short.items() if count > 0}
    return f"records that did not come, by topic: {named}"


class Client(Protocol):
    """One Kafka client, unmodified, whatever it is written in.

    Attributes:
        name: What it is known by; also good for a topic's name.
        lacks: What it cannot do, whatever the broker.
    """

    name: str
    lacks: Lack

    def describe(self, bootstrap: str) -> Cluster:
        """Connects anew, and says what the brokers say of themselves and their topics."""

    def create_topics(self, bootstrap: str, partition_counts: Mapping[str, int]) -> None:
        """The topics exist when it returns, with one replica of so many partitions each."""

    def produce(self, bootstrap: str, topic: str, records: Sequence[Record], codec: str) -> None:
        """Every record is acknowledged when it returns; within a partition in the order given."""

    def consume(self, bootstrap: str, counts: Mapping[str, int]) -> dict[str, list[Record]]:
        """At least so many records of each topic, from its beginning, in order by partition."""

    def close(self) -> None:
        """Ends what it has running."""
