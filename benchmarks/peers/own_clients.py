"""The client that people use with each server from Python, and what they get from it.

Clients cost as much as servers: these rows stand apart from those of the driver, and are named.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import NamedTuple, Protocol

from benchmarks.batches import value_of
from benchmarks.clients import Driver, Librdkafka
from benchmarks.peers.target import Target
from benchmarks.peers.variants import Variant
from benchmarks.peers.visits import Cells, Figures
from benchmarks.rounds import Options
from benchmarks.table import WrongCount

VALUE = value_of(100)
READ_MAX = 50_000
LIBRDKAFKA_COUNT = 1_000_000
KAFKA_SPEAKERS = {"Riverlog", "Apache Kafka"}


class OwnClient(Protocol):
    """A library, connected to one server."""

    def singly(self, topic: str, value: bytes, seconds: float) -> int:
        """Publishes one after the other, each acked before the next; how many that came to."""

    def batched(self, topic: str, value: bytes, seconds: float) -> int | None:
        """Publishes as the library likes it best, until all is acked; None: it has only one way."""

    def read(self, topic: str, count: int) -> Iterator[bytes]:
        """The first `count` values."""

    def close(self) -> None: ...


class Library(NamedTuple):
    """Which package speaks to which servers, and our few lines around it."""

    package: str
    module: str
    adapter: str

    @property
    def title(self) -> str:
        return "redis-py" if self.package == "redis" else self.package

    @property
    def name(self) -> str:
        return f"{self.title} {version(self.package)}"


LIBRARIES = {
    "Riverlog": Library("confluent-kafka", "confluent_kafka", "confluent_client"),
    "Apache Kafka": Library("confluent-kafka", "confluent_kafka", "confluent_client"),
    "Redis": Library("redis", "redis", "redis_client"),
    "NATS": Library("nats-py", "nats", "nats_client"),
    "RabbitMQ": Library("pika", "pika", "pika_client"),
}


def lacking(variant: Variant) -> str | None:
    """Why the variant's own client cannot be used here, or None if it can."""
    library = LIBRARIES[variant.program]
    if find_spec(library.module) is None:
        return f"{library.package} is not installed"
    return None


def library_versions() -> dict[str, str]:
    """What is installed of them."""
    found = {}
    for library in LIBRARIES.values():
        try:
            found[library.title] = version(library.package)
        except PackageNotFoundError:
            continue
    return found


def connected_client(variant: Variant, target: Target) -> OwnClient:
    """The variant's own client; it is there, as `lacking` has told."""
    adapter = import_module(f"benchmarks.peers.{LIBRARIES[variant.program].adapter}")
    connect: Callable[[Variant, int], OwnClient] = adapter.connected
    return connect(variant, target.server.port)


class ClientCells:
    """What a visit measures with a server's own client, and with librdkafka from C."""

    def __init__(self, driver: Driver, librdkafka: Librdkafka, options: Options) -> None:
        self._driver = driver
        self._librdkafka = librdkafka
        self._options = options

    def of(self, variant: Variant, target: Target) -> Cells:
        if lacking(variant) is None:
            yield "client-singly", partial(self._with, variant, target, self._singly)
            yield "client-batched", partial(self._with, variant, target, self._batched)
            yield "client-consume", partial(self._with, variant, target, self._consume)
        if variant.program in KAFKA_SPEAKERS:
            yield "librdkafka-batched", partial(self._librdkafka_produce, target)
            yield "librdkafka-consume", partial(self._librdkafka_consume, target)

    def _with(
        self,
        variant: Variant,
        target: Target,
        measure: Callable[[OwnClient, Target], Figures],
    ) -> Figures:
        try:
            with closing(connected_client(variant, target)) as client:
                return measure(client, target)
        except Exception as failure:  # each library has exceptions of its own
            raise ConnectionError(f"{LIBRARIES[variant.program].name}: {failure!r}") from failure

    def _singly(self, client: OwnClient, target: Target) -> Figures:
        target.make("client-singly")
        begun_s = time.perf_counter()
        return _rate(client.singly("client-singly", VALUE, self._options.cell_s), begun_s)

    def _batched(self, client: OwnClient, target: Target) -> Figures:
        target.make("client-batched")
        begun_s = time.perf_counter()
        count = client.batched("client-batched", VALUE, self._options.cell_s)
        return _rate(count, begun_s) if count else {}

    def _consume(self, client: OwnClient, target: Target) -> Figures:
        """Reads what the driver wrote: it has more to read then than clients would write."""
        target.make("client-consume")
        load = target.batched("client-consume", VALUE)
        written = self._driver.publish(target.server.port, load, 1).acked
        begun_s = time.perf_counter()
        values = client.read("client-consume", min(written, READ_MAX))
        return _rate(sum(1 for _ in values), begun_s)

    def _librdkafka_produce(self, target: Target) -> Figures:
        target.make("librdkafka")
        count = self._options.scaled(LIBRDKAFKA_COUNT)
        produced = self._librdkafka.produce(target.server.port, "librdkafka", count, len(VALUE))
        if produced.count != count:
            raise WrongCount(f"librdkafka: {produced.count} of {count} were stored")
        return {"per_s": produced.per_s, "count": count}

    def _librdkafka_consume(self, target: Target) -> Figures:
        count = self._options.scaled(LIBRDKAFKA_COUNT)
        consumed = self._librdkafka.consume(target.server.port, "librdkafka", count, len(VALUE))
        return {"per_s": consumed.per_s, "count": consumed.count}


def _rate(count: int, begun_s: float) -> Figures:
    return {"per_s": count / (time.perf_counter() - begun_s), "count": count}
