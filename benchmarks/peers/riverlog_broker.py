"""Riverlog: what a reply waits for is the client's choice, so one server has both kinds."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version as installed_version
from pathlib import Path

from benchmarks.peers.kafka_wire import KafkaTarget
from benchmarks.rounds import Options
from benchmarks.servers import riverlog

DURABLE_ACKS = -1
CACHED_ACKS = 1


def missing() -> str | None:
    return None


def version() -> str:
    return installed_version("riverlog")


@contextmanager
def synced(directory: Path, options: Options) -> Iterator[KafkaTarget]:
    """acks=all: durable before the reply."""
    with riverlog(directory, options) as server:
        yield KafkaTarget(server, DURABLE_ACKS)


@contextmanager
def cached(directory: Path, options: Options) -> Iterator[KafkaTarget]:
    """acks=1: with the operating system before the reply; synced right after it all the same."""
    with riverlog(directory, options) as server:
        yield KafkaTarget(server, CACHED_ACKS)
