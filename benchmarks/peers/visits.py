"""One visit to one server: started anew on an empty directory, measured, stopped."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, product
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from benchmarks.batches import value_of
from benchmarks.clients import Driver
from benchmarks.kafka_connection import Refused
from benchmarks.loads import Load
from benchmarks.machine import CpuWatch, disk_mb, rss_mb
from benchmarks.peers.target import Target
from benchmarks.peers.variants import Variant
from benchmarks.rounds import Options
from benchmarks.servers import DidNotStart
from benchmarks.table import WrongCount

Figures = dict[str, float]
Cells = Iterator[tuple[str, Callable[[], Figures]]]
MoreCells = Callable[[Target], Cells]

# What may go wrong with a server or a client without ending the run.
FAILURES = (
    OSError,
    ValueError,
    RuntimeError,
    AssertionError,
    subprocess.SubprocessError,
    DidNotStart,
    Refused,
    WrongCount,
)

PUBLISHERS = (1, 64)
SIZES = (100, 1024)
RATE_PER_S = 1000
LATENCY_S = 2.0
IDLE_S = 0.5
READ_S_MIN = 0.4
READS_MAX = 20
STORED_S_MAX = 5
MILLION = 1_000_000

CELLS = [
    *(f"p{publishers}-{size}" for publishers in PUBLISHERS for size in SIZES),
    "latency",
    *(f"{way}-{size}" for size in SIZES for way in ("batched", "consume")),
]
WARM_UP_CELLS = {"p1-100", "p64-100", "latency", "batched-100", "consume-100"}


class Visited(NamedTuple):
    """What came of a visit: figures by cell, and why there is none where one failed."""

    cells: dict[str, Figures]
    failures: dict[str, str]


class Visitor:
    """Measures one server at a time. Every message that counts was acked, and is there."""

    def __init__(self, place: Path, driver: Driver, options: Options) -> None:
        self._place = place
        self._driver = driver
        self._options = options
        self._stored: dict[str, int] = {}

    def visit(self, variant: Variant, more: MoreCells) -> Visited:
        """All cells, and those that `more` adds; raises only if the server does not start."""
        visited = Visited({}, {})
        directory = self._place / variant.key
        try:
            with variant.start(directory, self._options) as target:
                self._cell(visited, "start", lambda: self._start(target))
                if variant.warms_up and not self._options.is_quick:
                    self._warm_up(target)
                for name, measure in chain(self._cells(target), more(target)):
                    self._cell(visited, name, measure)
        finally:
            rmtree(directory, ignore_errors=True)
            # What is still to be written must not be written at the next one's expense.
            os.sync()
        return visited

    def fill(self, variant: Variant) -> Figures:
        """Memory and disk after a million messages of 100 bytes."""
        directory = self._place / variant.key
        count = self._options.scaled(MILLION)
        try:
            with variant.start(directory, self._options) as target:
                target.make("million")
                load = target.batched("million", value_of(100))
                requests = -(-count // load.messages_per_request)
                published = self._driver.publish(target.server.port, load, 1, requests)
                self.check_stored(target, "million", published.acked)
                time.sleep(IDLE_S)
                memory_mb = rss_mb(target.pid)
            taken_mb = disk_mb(directory) / published.acked * MILLION
        finally:
            rmtree(directory, ignore_errors=True)
        return {"memory_mb": memory_mb, "disk_mb": taken_mb, "count": published.acked}

    def _cell(self, visited: Visited, name: str, measure: Callable[[], Figures]) -> None:
        watch = CpuWatch()
        try:
            visited.cells[name] = measure() | {"foreign": watch.foreign_share()}
        except FAILURES as failure:
            visited.failures[name] = f"{type(failure).__name__}: {failure}"[:500]

    def _start(self, target: Target) -> Figures:
        target.make("first")
        self._driver.publish(target.server.port, target.singly("first", [value_of(100)]), 1, 1)
        seconds = time.perf_counter() - target.server.begun_s
        time.sleep(IDLE_S)
        return {"seconds": seconds, "memory_mb": rss_mb(target.pid)}

    def _warm_up(self, target: Target) -> None:
        """Does a little of everything, on topics of its own."""
        for name, measure in self._cells(target, "warm-up-"):
            if name in WARM_UP_CELLS:
                self._cell(Visited({}, {}), name, measure)

    def _cells(self, target: Target, prefix: str = "") -> Cells:
        for publishers, size in product(PUBLISHERS, SIZES):
            name = f"p{publishers}-{size}"
            yield name, partial(self._singly, target, prefix + name, publishers, size)
        yield "latency", partial(self._latency, target, f"{prefix}latency")
        for size in SIZES:
            topic = f"{prefix}batched-{size}"
            yield f"batched-{size}", partial(self._batched, target, topic, size)
            yield f"consume-{size}", partial(self._consume, target, topic)

    def _singly(self, target: Target, topic: str, publishers: int, size: int) -> Figures:
        target.make(topic)
        load = target.singly(topic, [value_of(size)], publishers)
        return self._publish(target, topic, load, publishers)

    def _batched(self, target: Target, topic: str, size: int) -> Figures:
        target.make(topic)
        return self._publish(target, topic, target.batched(topic, value_of(size)), 1)

    def _publish(self, target: Target, topic: str, load: Load, publishers: int) -> Figures:
        published = self._driver.publish(target.server.port, load, publishers)
        self.check_stored(target, topic, published.acked)
        return {
            "per_s": published.acks_per_s,
            "p50_us": published.p50_us,
            "p99_us": published.p99_us,
            "count": published.acked,
        }

    def _consume(self, target: Target, topic: str) -> Figures:
        """Reads all that a batched cell has left; again and again where that is little."""
        wanted = self._stored.pop(topic, 0)
        if not wanted:
            raise WrongCount(f"{topic}: there is nothing to read")
        count, seconds = 0, 0.0
        for _ in range(READS_MAX if target.keeps_what_is_read else 1):
            read = self._driver.consume(target.server.port, target.listening(topic), wanted)
            if read.count != wanted:
                raise WrongCount(f"{topic}: {read.count} of {wanted} were read")
            count += read.count
            seconds += read.count / read.per_s
            if seconds > READ_S_MIN:
                break
        return {"per_s": count / seconds, "count": count}

    def _latency(self, target: Target, topic: str) -> Figures:
        target.make(topic)
        seconds = LATENCY_S / 4 if self._options.is_quick else LATENCY_S
        load = target.singly(topic, [value_of(100)])
        found = self._driver.latency(
            target.server.port, load, target.listening(topic), RATE_PER_S, seconds
        )
        return {"p50_us": found.p50_us, "p99_us": found.p99_us, "count": found.count}

    def check_stored(self, target: Target, topic: str, acked: int) -> None:
        """Raises `WrongCount` unless the server has what it acknowledged, no more and no less."""
        stored = target.stored(topic)
        if stored is None:
            stored = self._driver.consume(target.server.port, target.listening(topic), acked).count
        until_s = time.monotonic() + STORED_S_MAX
        # With acks=1 a message is acked before it is seen, which is after the next sync.
        while stored < acked and time.monotonic() < until_s:
            time.sleep(0.01)
            stored = target.stored(topic) or 0
        if stored != acked:
            raise WrongCount(f"{topic}: {acked} were acknowledged, {stored} are there")
        self._stored[topic] = stored
