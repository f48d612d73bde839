"""Batches through librdkafka, beside the same client against a broker that keeps nothing.

The client is librdkafka driven from C, on one partition: the only one of our clients that is quick
enough to find out what the broker costs. Both brokers stay up for all rounds; one at a time works.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.batches import full_batch
from benchmarks.clients import Librdkafka, Transferred
from benchmarks.kafka_connection import connected
from benchmarks.machine import workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.servers import null_broker, riverlog
from benchmarks.table import Table, at_least

PRODUCED = 3_000_000
CONSUMED_BYTES = 600_000_000
TOPIC = "batched"


def run(options: Options) -> Iterator[Table]:
    with workshop() as place:
        client = Librdkafka(place, options)
        yield _produce(place / "produce", options, client, 100)
        yield _consume(place / "consume-100", options, client, 100)
        yield _consume(place / "consume-1024", options, client, 1024)


def _produce(place: Path, options: Options, client: Librdkafka, size: int) -> Table:
    table = Table(f"Batched produce, {size} B, librdkafka, acks=all, batches of 1 MB")
    count = options.scaled(PRODUCED)

    with ExitStack() as stack:
        ours = stack.enter_context(riverlog(place / "riverlog", options))
        null = stack.enter_context(null_broker(place / "null", options, size, 0))
        connection = stack.enter_context(connected(ours.port))

        def to_riverlog() -> Transferred:
            connection.create_topic(TOPIC)
            produced = client.produce(ours.port, TOPIC, count, size)
            # One message more than was measured: it made the connection.
            table.count("stored by Riverlog", count + 1, connection.end_offset(TOPIC))
            connection.delete_topic(TOPIC)
            return produced

        def to_null() -> Transferred:
            return client.produce(null.port, TOPIC, count, size)

        variants = {"Riverlog": to_riverlog, "null broker": to_null}
        _add_rates(table, interleaved(table, options.rounds, variants), count)
    return table


def _consume(place: Path, options: Options, client: Librdkafka, size: int) -> Table:
    table = Table(f"Batched consume, {size} B, librdkafka, batches of 1 MB, from the page cache")
    batch, batch_records = full_batch(size)
    batch_count = max(options.scaled(CONSUMED_BYTES) // len(batch), 1)
    count = batch_records * batch_count

    with ExitStack() as stack:
        ours = stack.enter_context(riverlog(place / "riverlog", options))
        null = stack.enter_context(null_broker(place / "null", options, size, count))
        with connected(ours.port) as connection:
            connection.create_topic(TOPIC)
            connection.fill(TOPIC, batch, batch_count)
            table.count("stored by Riverlog", count, connection.end_offset(TOPIC))
        ports = {"Riverlog": ours.port, "null broker": null.port}
        for name, port in ports.items():
            checked = client.consume(port, TOPIC, count, size, checks_crcs=True)
            table.count(f"consumed from {name}, checksums verified", count, checked.count)

        def consume(port: int) -> Transferred:
            return client.consume(port, TOPIC, count, size)

        variants = {name: lambda port=port: consume(port) for name, port in ports.items()}
        _add_rates(table, interleaved(table, options.rounds, variants), count)
    return table


def _add_rates(table: Table, found: dict[str, list[Transferred]], count: int) -> None:
    for name, cells in found.items():
        for cell in cells:
            table.count(name, count, cell.count)
        table.add(name, [cell.per_s for cell in cells], "msg/s")
    rates = {name: [cell.per_s for cell in cells] for name, cells in found.items()}
    table.add(
        "Riverlog / null broker",
        ratios(rates["Riverlog"], rates["null broker"]),
        aim=at_least(0.95),
    )
