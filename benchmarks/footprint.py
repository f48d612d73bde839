"""What a broker takes: time to start, memory, disk, and time to open again after `kill -9`.

Times run from the start of the process to the reply. The page cache is warm, as it is after a
crash of the process alone.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from typing import TypeVar

from benchmarks.batches import batch_of, full_batch, produce_frames
from benchmarks.clients import Driver
from benchmarks.kafka_connection import KafkaConnection, connected
from benchmarks.machine import disk_mb, rss_mb, workshop
from benchmarks.rounds import Options, interleaved
from benchmarks.servers import riverlog
from benchmarks.table import Table, at_most

T = TypeVar("T")

SIZE = 100
RECORDS = 1_000_000
PUBLISHERS = 64
MIB = 1 << 20

# Batches of about that many bytes, up to so much. Batches of one record take long to make, and
# what is read after a start grows only up to the size of a segment.
REOPENED = [(1_000_000, 1024 * MIB), (16_384, 1024 * MIB), (1, 192 * MIB)]
IDLE_S = 0.5
TOPIC = "footprint"


def run(options: Options) -> Iterator[Table]:
    with workshop() as place:
        yield _start(place / "start", options)
        yield _memory_and_disk(place / "million", options, Driver(place, options))
        for batch_bytes, size_bytes in REOPENED:
            yield _reopen(place / "reopen", options, batch_bytes, size_bytes)


def _start(place: Path, options: Options) -> Table:
    table = Table("Start on an empty directory")
    idle_mb: list[float] = []

    def first_ack() -> float:
        begun_s = time.perf_counter()
        with riverlog(place, options) as server, connected(server.port) as connection:
            connection.create_topic(TOPIC)
            connection.produce(TOPIC, batch_of(SIZE, 1))
            seconds = time.perf_counter() - begun_s
            table.count("stored", 1, connection.end_offset(TOPIC))
        rmtree(place)
        return seconds

    def bare() -> float:
        begun_s = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        return time.perf_counter() - begun_s

    variants = {"to the first accepted produce": first_ack, "an empty interpreter": bare}
    found = interleaved(table, options.rounds, variants)
    for _ in range(options.rounds):
        with riverlog(place, options) as server:
            time.sleep(IDLE_S)
            idle_mb.append(rss_mb(server.pid))
        rmtree(place)
    table.add(
        "to the first accepted produce", found["to the first accepted produce"], "s", at_most(0.2)
    )
    table.add("an empty interpreter", found["an empty interpreter"], "s")
    table.add("idle memory", idle_mb, "MB", at_most(40))
    table.notes.append("the first produce makes its topic first, durably")
    return table


def _memory_and_disk(place: Path, options: Options, driver: Driver) -> Table:
    count = options.scaled(RECORDS)
    table = Table(f"After {count:,} records of {SIZE} B")
    batch, batch_records = full_batch(SIZE)
    batch_count = -(-count // batch_records)
    single = produce_frames(TOPIC, [0], batch_of(SIZE, 1))

    def batched(port: int, connection: KafkaConnection) -> int:
        connection.fill(TOPIC, batch, batch_count)
        return batch_count * batch_records

    def singles(port: int, connection: KafkaConnection) -> int:
        return driver.publish_to_kafka(port, PUBLISHERS, TOPIC, single, count).acked

    ways: dict[str, Callable[[int, KafkaConnection], int]] = {
        "in batches of 1 MB": batched,
        "in batches of one": singles,
    }
    for name, produce in ways.items():
        with riverlog(place, options) as server, connected(server.port) as connection:
            connection.create_topic(TOPIC)
            produced = produce(server.port, connection)
            table.count(f"stored {name}", produced, connection.end_offset(TOPIC))
            table.add(f"memory, {name}", [rss_mb(server.pid)], "MB", at_most(60))
            table.add(f"memory at its peak, {name}", [rss_mb(server.pid, "VmHWM")], "MB")
        taken_mb = disk_mb(place / "data") / produced * RECORDS
        table.add(f"disk per million, {name}", [taken_mb], "MB")
        rmtree(place)
    return table


def _reopen(place: Path, options: Options, batch_bytes: int, size_bytes: int) -> Table:
    size_bytes = options.scaled(size_bytes)
    batch, batch_records = full_batch(SIZE, batch_bytes)
    batch_count = -(-size_bytes // len(batch))
    table = Table(
        f"Opened again after kill -9: {size_bytes // MIB:,} MiB in batches of"
        f" {batch_records:,} x {SIZE} B, one partition"
    )
    end_offset = batch_records * batch_count
    with riverlog(place, options) as server, connected(server.port) as connection:
        connection.create_topic(TOPIC)
        connection.fill(TOPIC, batch, batch_count)
        table.count("stored", end_offset, connection.end_offset(TOPIC))
        server.kill()

    def timed(ask: Callable[[KafkaConnection], T]) -> tuple[float, T]:
        begun_s = time.perf_counter()
        with riverlog(place, options) as server, connected(server.port) as connection:
            answer = ask(connection)
            seconds = time.perf_counter() - begun_s
            server.kill()
        return seconds, answer

    def produce() -> float:
        nonlocal end_offset
        seconds, offset = timed(lambda connection: connection.produce(TOPIC, batch_of(SIZE, 1)))
        table.count("found again", end_offset, offset)
        end_offset += 1
        return seconds

    def fetch_end() -> float:
        return timed(lambda connection: connection.fetch(TOPIC, end_offset - 1))[0]

    def fetch_beginning() -> float:
        return timed(lambda connection: connection.fetch(TOPIC, 0))[0]

    variants = {
        "to the first accepted produce": produce,
        "to the first record fetched, of the end": fetch_end,
        "to the first record fetched, of the beginning": fetch_beginning,
    }
    found = interleaved(table, options.rounds, variants)
    for name, samples in found.items():
        table.add(name, samples, "s", at_most(1))
    rmtree(place)
    return table
