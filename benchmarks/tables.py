"""Topics as tables: the kernel alone, and a whole topic read over loopback."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import riverlog
from benchmarks import servers
from benchmarks.batches import full_batch
from benchmarks.machine import workshop
from benchmarks.rounds import Options, interleaved
from benchmarks.table import Table, at_least
from riverlog.client.outgoing import NewRecord
from riverlog.kernel.decoding import decode
from riverlog.kernel.wanted import COLUMNS, Wanted

RECORD_BYTES = 100
BATCHES = 64
RECORDS = 1_000_000
PUBLISHED_AT_ONCE = 50_000
MILLION = 1_000_000


def run(options: Options) -> Iterator[Table]:
    yield _kernel(options)
    with workshop() as directory:
        yield _over_loopback(options, directory)


def _kernel(options: Options) -> Table:
    batch, count = full_batch(RECORD_BYTES)
    batches = options.scaled(BATCHES)
    data = batch * batches
    table = Table(
        f"Kernel: {RECORD_BYTES} B records to Arrow, {len(batch):,} B batches, one thread"
    )

    def decoding(columns: tuple[str, ...]) -> Callable[[], float]:
        def decoded() -> float:
            began = time.process_time()
            rows = decode(data, Wanted("orders", 0, columns)).rows
            seconds = time.process_time() - began
            table.count("decoded", count * batches, sum(each.num_rows for each in rows))
            return count * batches / seconds / MILLION

        return decoded

    variants = {"all columns": decoding(COLUMNS), "values alone": decoding(("value",))}
    for what, samples in interleaved(table, options.rounds, variants).items():
        table.add(what, samples, "M records/s of CPU", at_least(25))
    return table


def _over_loopback(options: Options, directory: Path) -> Table:
    count = options.scaled(RECORDS)
    table = Table(f"read_arrow: {count:,} records of {RECORD_BYTES} B, from another process")
    with servers.riverlog(directory, options) as server:
        bootstrap = f"127.0.0.1:{server.port}"
        fill(bootstrap, "orders", count)

        def read(columns: list[str] | None) -> float:
            began = time.perf_counter()
            found = riverlog.read_arrow("orders", bootstrap=bootstrap, columns=columns)
            seconds = time.perf_counter() - began
            table.count("read", count, found.num_rows)
            return count / seconds / MILLION

        variants = {"all columns": lambda: read(None), "values alone": lambda: read(["value"])}
        for what, samples in interleaved(table, options.rounds, variants).items():
            table.add(what, samples, "M records/s")
    return table


def fill(bootstrap: str, topic: str, count: int) -> None:
    """A topic of two partitions with so many records, each with a key of 16 bytes.

    No value is like another: nobody shall win by telling that they repeat.
    """
    chance = Random(count)
    with riverlog.connect(bootstrap) as client:
        client.topics.create(topic, partitions=2)
        for first in range(0, count, PUBLISHED_AT_ONCE):
            records = [
                NewRecord(chance.randbytes(RECORD_BYTES), key=f"{number:016}", partition=number % 2)
                for number in range(first, min(first + PUBLISHED_AT_ONCE, count))
            ]
            client.publish_batch(topic, records).results()
