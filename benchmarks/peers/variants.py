"""Who takes part: each server with each durability, in the order of an odd round."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers import apache_kafka, nats_server, rabbitmq, redis_server, riverlog_broker
from benchmarks.peers.target import Target
from benchmarks.rounds import Options

Start = Callable[[Path, Options], AbstractContextManager[Target]]


class Durability(Enum):
    """What is true of a message when its ack leaves."""

    SYNCED = "synced before the ack"
    CACHED = "in the page cache"


class Variant(NamedTuple):
    """A server, as it is started and as it is called in tables."""

    key: str
    title: str
    program: str
    durability: Durability
    start: Start
    missing: Callable[[], str | None]
    version: Callable[[], str]
    warms_up: bool = False
    """Whether it works a while before it is measured: a JVM has to compile itself first."""
    fills_a_million: bool = False
    """Whether memory and disk are taken of it; the others of its program keep the same files."""

    @property
    def is_ours(self) -> bool:
        return self.program == "Riverlog"


SYNCED, CACHED = Durability.SYNCED, Durability.CACHED


def _of(
    module: object, program: str, rows: list[tuple[str, str, Durability, Start, bool]]
) -> list[Variant]:
    missing: Callable[[], str | None] = module.missing  # type: ignore[attr-defined] # each has it
    version: Callable[[], str] = module.version  # type: ignore[attr-defined] # likewise
    warms_up = module is apache_kafka
    return [
        Variant(key, title, program, durability, start, missing, version, warms_up, fills)
        for key, title, durability, start, fills in rows
    ]


VARIANTS = [
    *_of(riverlog_broker, "Riverlog", [
        ("riverlog", "Riverlog, acks=all", SYNCED, riverlog_broker.synced, True),
        ("riverlog-cached", "Riverlog, acks=1", CACHED, riverlog_broker.cached, False),
    ]),
    *_of(redis_server, "Redis", [
        ("redis-always", "Redis, always", SYNCED, redis_server.always, False),
        ("redis-everysec", "Redis, everysec", CACHED, redis_server.everysec, True),
    ]),
    *_of(nats_server, "NATS", [
        ("nats-always", "NATS, always", SYNCED, nats_server.always, False),
        ("nats-default", "NATS, default", CACHED, nats_server.default, True),
    ]),
    *_of(apache_kafka, "Apache Kafka", [
        ("kafka-synced", "Apache Kafka, flush 1", SYNCED, apache_kafka.synced, False),
        ("kafka-default", "Apache Kafka, default", CACHED, apache_kafka.default, True),
    ]),
    *_of(rabbitmq, "RabbitMQ", [
        ("rabbit-classic", "RabbitMQ, classic", SYNCED, rabbitmq.classic, True),
        ("rabbit-quorum", "RabbitMQ, quorum", SYNCED, rabbitmq.quorum, True),
        ("rabbit-stream", "RabbitMQ, stream", CACHED, rabbitmq.stream, True),
    ]),
]  # fmt: skip

BY_KEY = {variant.key: variant for variant in VARIANTS}
