"""Where the broker's time goes: when an aim is missed, look here.

Profiling more than doubles what a call costs, and small functions suffer most: read the shares,
not the sums. The first rows are what the kernel has accounted for the whole process, which a
profile cannot see into: page faults, for one, show there and in whoever touches new memory first.
"""

import marshal
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree

from benchmarks.batches import batch_of, produce_frames
from benchmarks.clients import Driver, Librdkafka
from benchmarks.kafka_connection import connected
from benchmarks.machine import cpu_s, workshop
from benchmarks.rounds import Options
from benchmarks.servers import riverlog
from benchmarks.table import Table

TOPIC = "profiled"
SHOWN = 30

# Enough that the start of the process, which is in the profile too, does not show.
ONE_BY_ONE = 20_000
TOGETHER = 200_000
BATCHED = 1_000_000

Recorded = dict[tuple[str, int, str], tuple[int, int, float, float, object]]
Load = Callable[[int], int]


def run(options: Options) -> Iterator[Table]:
    with workshop() as place:
        driver, client = Driver(place, options), Librdkafka(place, options)
        frames = produce_frames(TOPIC, [0], batch_of(100, 1))

        def publish(publishers: int, count: int) -> Load:
            def load(port: int) -> int:
                return driver.publish_to_kafka(
                    port, publishers, TOPIC, frames, options.scaled(count)
                ).acked

            return load

        def produce(port: int) -> int:
            # The one that makes the connection is stored too.
            return client.produce(port, TOPIC, options.scaled(BATCHED), 1024).count + 1

        loads = {
            "1 durable publisher, 100 B": publish(1, ONE_BY_ONE),
            "64 durable publishers, 100 B": publish(64, TOGETHER),
            "durable produce, 1 KiB, librdkafka, batches of 1 MB": produce,
        }
        for name, load in loads.items():
            yield _profiled(place, options, name, load)


def _profiled(place: Path, options: Options, name: str, load: Load) -> Table:
    table = Table(f"Profile of {name}: time per record")
    profile = place / "profile"
    under_profiler = ("-m", "cProfile", "-o", str(profile), "-m", "riverlog")
    with (
        riverlog(place / "riverlog", options, under_profiler) as server,
        connected(server.port) as connection,
    ):
        connection.create_topic(TOPIC)
        before = cpu_s(server.pid)
        count = load(server.port)
        after = cpu_s(server.pid)
        table.count("stored", count, connection.end_offset(TOPIC))
    for what, begun_s, ended_s in zip(("own", "kernel"), before, after, strict=True):
        table.add(f"the process, CPU, {what}", [(ended_s - begun_s) / count * 1e6], "µs")
    for what, own_s, calls in _functions(profile)[:SHOWN]:
        table.add(f"{what}, {calls / count:.2g} calls", [own_s / count * 1e6], "µs")
    rmtree(place / "riverlog")
    return table


def _functions(profile: Path) -> list[tuple[str, float, int]]:
    """Name, own seconds and number of calls of every function, the costliest first."""
    # What pstats itself reads; its own table has one place for all functions of a name.
    recorded: Recorded = marshal.loads(profile.read_bytes())
    found = []
    for (file, line, name), (_, calls, own_s, _, _) in recorded.items():
        where = Path(file)
        place = f"{where.parent.name}/{where.name}:" if line else ""
        found.append((f"{place}{name}", own_s, calls))
    return sorted(found, key=lambda one: -one[1])
