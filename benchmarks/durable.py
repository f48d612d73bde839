"""Durable 1 KiB records in batches, beside what the disk itself appends and syncs."""

from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks.batches import FULL_BATCH_BYTES
from benchmarks.clients import Librdkafka
from benchmarks.disk import synced_appends_per_s
from benchmarks.kafka_connection import connected
from benchmarks.machine import workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.servers import riverlog
from benchmarks.syncs import syncs_during
from benchmarks.table import Table, at_least

SIZE = 1024
PRODUCED = 600_000
TOPIC = "durable"
MB = 1_000_000


def run(options: Options) -> Iterator[Table]:
    table = Table("Durable produce, 1 KiB, librdkafka, acks=all, batches of 1 MB")
    count = options.scaled(PRODUCED)
    with ExitStack() as stack:
        place = stack.enter_context(workshop())
        client = Librdkafka(place, options)
        server = stack.enter_context(riverlog(place / "riverlog", options))
        connection = stack.enter_context(connected(server.port))

        def to_riverlog() -> float:
            connection.create_topic(TOPIC)
            produced = client.produce(server.port, TOPIC, count, SIZE)
            table.count("acknowledged", count, produced.count)
            table.count(
                "stored, with the one that connects", count + 1, connection.end_offset(TOPIC)
            )
            connection.delete_topic(TOPIC)
            return produced.per_s * SIZE / MB

        def to_disk() -> float:
            return (
                synced_appends_per_s(place, FULL_BATCH_BYTES, options.cell_s)
                * FULL_BATCH_BYTES
                / MB
            )

        variants = {"Riverlog": to_riverlog, "append + fdatasync of 1 MB": to_disk}
        found = interleaved(table, options.rounds, variants)
        for name, samples in found.items():
            table.add(name, samples, "MB/s")
        table.add("Riverlog / the disk", ratios(*found.values()), aim=at_least(0.6))

        syncs, _ = syncs_during(server.pid, place, to_riverlog)
        table.notes.append(f"durability: {syncs.per(count * SIZE // MB, 'megabyte')}")
    yield table
