"""What many partitions cost: one publisher that goes round them, and 64 of them at once.

Brokers with few and with many partitions both stay up; one at a time works. Every partition has
been written to once before anything is measured.
"""

from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks.batches import batch_of, produce_frames
from benchmarks.clients import Driver, Published
from benchmarks.kafka_connection import connected
from benchmarks.machine import rss_mb, workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.servers import riverlog
from benchmarks.table import Table, at_most

FEW, MANY = 10, 10_000
ACTIVE = (1, 64, 1_000)
SIZE = 100
PUBLISHERS = 64
TOPIC = "spread"


def run(options: Options) -> Iterator[Table]:
    yield _latency(options)
    yield _active(options)


def _latency(options: Options) -> Table:
    many = options.scaled(MANY)
    table = Table(f"1 durable publisher, {SIZE} B, round robin over {FEW} and {many:,} partitions")
    with ExitStack() as stack:
        place = stack.enter_context(workshop())
        driver = Driver(place, options)
        ports, frames = {}, {}
        for count in (FEW, many):
            server = stack.enter_context(riverlog(place / str(count), options))
            ports[count] = server.port
            frames[count] = produce_frames(TOPIC, range(count), batch_of(SIZE, 1))
            with connected(server.port) as connection:
                connection.create_topic(TOPIC, count)
            touched = driver.publish_to_kafka(
                server.port, min(PUBLISHERS, count), TOPIC, frames[count], count
            )
            table.count(f"written to each of {count} once", count, touched.acked)
            table.notes.append(f"with {count:,} partitions written to: {rss_mb(server.pid):.0f} MB")

        def publish(count: int) -> Published:
            # One record in each, and then whatever the cell brings.
            published = driver.publish_to_kafka(ports[count], 1, TOPIC, frames[count])
            stored[count] += published.acked
            return published

        stored = {FEW: FEW, many: many}
        variants = {f"{count:,}": lambda count=count: publish(count) for count in (FEW, many)}
        found = interleaved(table, options.rounds, variants)
        for count in (FEW, many):
            with connected(ports[count]) as connection:
                ends = sum(connection.end_offset(TOPIC, index) for index in range(count))
            table.count(f"stored in {count} partitions", stored[count], ends)
        for name, cells in found.items():
            table.add(f"{name} partitions, p50", [cell.p50_us for cell in cells], "µs")
            table.add(f"{name} partitions, p99", [cell.p99_us for cell in cells], "µs")
        few_p99, many_p99 = ([cell.p99_us for cell in cells] for cells in found.values())
        table.add(f"p99, {many:,} / {FEW}", ratios(many_p99, few_p99), aim=at_most(1.5))
    return table


def _active(options: Options) -> Table:
    table = Table(f"{PUBLISHERS} durable publishers, {SIZE} B, over 1, 64 and 1,000 partitions")
    with ExitStack() as stack:
        place = stack.enter_context(workshop())
        driver = Driver(place, options)
        server = stack.enter_context(riverlog(place / "riverlog", options))
        connection = stack.enter_context(connected(server.port))
        frames = {}
        for count in ACTIVE:
            topic = f"{TOPIC}-{count}"
            frames[count] = produce_frames(topic, range(count), batch_of(SIZE, 1))
            connection.create_topic(topic, count)
            driver.publish_to_kafka(
                server.port, min(PUBLISHERS, count), topic, frames[count], count
            )

        def publish(count: int) -> Published:
            topic = f"{TOPIC}-{count}"
            published = driver.publish_to_kafka(server.port, PUBLISHERS, topic, frames[count])
            stored[count] += published.acked
            return published

        stored = {count: count for count in ACTIVE}
        variants = {f"{count:,}": lambda count=count: publish(count) for count in ACTIVE}
        found = interleaved(table, options.rounds, variants)
        for count in ACTIVE:
            topic = f"{TOPIC}-{count}"
            ends = sum(connection.end_offset(topic, index) for index in range(count))
            table.count(f"stored in {count} partitions", stored[count], ends)
        for name, cells in found.items():
            table.add(f"{name} active", [cell.acks_per_s for cell in cells], "acks/s")
            table.add(f"{name} active, p99", [cell.p99_us for cell in cells], "µs")
    return table
