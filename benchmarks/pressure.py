"""What one durable publisher feels of others: idle, slow and hostile ones, and being alone."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from statistics import median

from benchmarks.batches import batch_of, full_batch, produce_frames
from benchmarks.clients import Driver, Published
from benchmarks.hostile_clients import (
    COMPACTED_TOPIC,
    LARGE_TOPIC,
    Hostile,
    beside,
    bombs,
    connecting,
    huge_fetches,
    idle_beside_slow_reading,
    joining,
    many_small_records,
    pipelining,
    slow_loris,
    wide_fetches,
)
from benchmarks.kafka_connection import connected
from benchmarks.machine import rss_mb, workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.servers import riverlog
from benchmarks.table import Table, at_most

TOPIC = "published"
LARGE_BATCHES = 100
IDLE = 1_000
QUICK_COUNT = 20
TIMES_ALONE_MAX = 2


def run(options: Options) -> Iterator[Table]:
    kinds = _kinds(options)
    table = Table("One durable publisher, 100 B: its p99 beside others")
    acts: dict[str, int] = dict.fromkeys(kinds, 0)
    with ExitStack() as stack:
        place = stack.enter_context(workshop())
        driver = Driver(place, options)
        server = stack.enter_context(riverlog(place / "riverlog", options))
        connection = stack.enter_context(connected(server.port))
        connection.create_topic(TOPIC)
        connection.create_topic(COMPACTED_TOPIC, configs={"cleanup.policy": "compact"})
        connection.create_topic(LARGE_TOPIC)
        connection.fill(LARGE_TOPIC, full_batch(1024)[0], options.scaled(LARGE_BATCHES))
        frames = produce_frames(TOPIC, [0], batch_of(100, 1))
        before_mb = rss_mb(server.pid)
        # A cell of a moment may end before anything is acknowledged.
        count = QUICK_COUNT if options.is_quick else 0

        def publish() -> Published:
            return driver.publish_to_kafka(server.port, 1, TOPIC, frames, count)

        def publish_beside(kind: str) -> Callable[[], Published]:
            def publish_so() -> Published:
                with beside(kinds[kind], server.port) as acted:
                    published = publish()
                acts[kind] += sum(acted)
                return published

            return publish_so

        variants = {"alone": publish} | {kind: publish_beside(kind) for kind in kinds}
        found = interleaved(table, options.rounds, variants)
        _add_rows(table, found, acts)
        acked = sum(cell.acked for cells in found.values() for cell in cells)
        table.count("written", acked, connection.end_offset(TOPIC))
        table.add("memory before", [before_mb], "MB")
        table.add("memory at its most", [rss_mb(server.pid, "VmHWM")], "MB")
    yield table


def _kinds(options: Options) -> dict[str, Hostile]:
    idle = options.scaled(IDLE)
    return {
        f"a slow consumer and {idle:,} idle connections": idle_beside_slow_reading(idle),
        "slow lorises": slow_loris,
        "a thousand requests at a time": pipelining,
        "compression bombs": bombs,
        "batches of many small records": many_small_records,
        "fetches of 2 GiB": huge_fetches,
        "fetches of 30,000 partitions": wide_fetches,
        "fresh members of a group": joining,
        "500 connections a second": connecting,
    }


def _add_rows(table: Table, found: Mapping[str, list[Published]], acts: Mapping[str, int]) -> None:
    alone = [cell.p99_us for cell in found["alone"]]
    table.add("alone, p50", [cell.p50_us for cell in found["alone"]], "µs")
    table.add("alone, p99", alone, "µs")
    for kind in acts:
        p99s = [cell.p99_us for cell in found[kind]]
        table.add(f"{kind}, p99 / alone", ratios(p99s, alone), aim=at_most(TIMES_ALONE_MAX))
        per_s = median(cell.acks_per_s for cell in found[kind])
        table.notes.append(f"{kind}: {acts[kind]:,} of theirs, {per_s:,.0f} acks/s beside them")
