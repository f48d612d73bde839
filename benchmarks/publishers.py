"""Durable publishers that wait for each reply, beside Redis, which is best at that among peers.

One driver in C loads both. Each round starts both servers anew, one at a time, on empty
directories; a topic of one partition stands against a stream. The disk's own rate stands beside
them: it has no network and no second process, so nobody can reach it with one publisher.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree

from benchmarks.batches import batch_of, produce_frames, value_of, xadd_frame
from benchmarks.clients import Driver, Published, require
from benchmarks.disk import synced_appends_per_s
from benchmarks.kafka_connection import connected
from benchmarks.machine import cpu_s, workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.servers import Server, redis, redis_ask, riverlog
from benchmarks.syncs import syncs_during
from benchmarks.table import Aim, Table, at_least

SIZE_TRACED = 100


@dataclass(frozen=True, slots=True)
class Case:
    """So many publishers of records of that size."""

    publishers: int
    size: int
    aim: Aim

    @property
    def name(self) -> str:
        return f"p{self.publishers}-{self.size}"

    def __str__(self) -> str:
        return f"{self.publishers} durable publisher{'s'[: self.publishers - 1]}, {self.size} B"


CASES = [
    Case(publishers, size, at_least(bound))
    for publishers, bound in ((1, 1.1), (64, 0.9))
    for size in (100, 1024)
]


@dataclass(frozen=True, slots=True)
class Cell:
    """What one case came to on one server, and what that cost the server."""

    published: Published
    user_us_per_ack: float
    system_us_per_ack: float


Cells = dict[Case, Cell]
Publish = Callable[[Case], Published]


def run(options: Options) -> Iterator[Table]:
    require("redis-server")
    tables = {case: Table(str(case)) for case in CASES}
    appends: list[dict[int, float]] = []
    with workshop() as place:
        driver = Driver(place, options)

        def ours() -> Cells:
            with riverlog(place / "riverlog", options) as server:
                publish = _to_riverlog(server, driver, tables)
                cells = {case: _measured(server, publish, case) for case in CASES}
            rmtree(place / "riverlog")
            return cells

        def theirs() -> Cells:
            with redis(place / "redis", options) as server:
                publish = _to_redis(server, driver, tables)
                cells = {case: _measured(server, publish, case) for case in CASES}
            rmtree(place / "redis")
            return cells

        def disk() -> Cells:
            sizes = {case.size for case in CASES}
            rates = {size: synced_appends_per_s(place, size, options.cell_s) for size in sizes}
            appends.append(rates)
            return {}

        run_as_whole = Table("the whole run")
        variants = {"Riverlog": ours, "Redis": theirs, "disk": disk}
        found = interleaved(run_as_whole, options.rounds, variants)
        for case, table in tables.items():
            _add_rows(table, case, found["Riverlog"], found["Redis"])
            samples = [rates[case.size] for rates in appends]
            table.add("append + fdatasync, no server", samples, "/s")
            table.foreign_shares = run_as_whole.foreign_shares
            if case.size == SIZE_TRACED:
                table.notes += _durability(place, options, driver, tables, case)
            yield table


def _to_riverlog(server: Server, driver: Driver, tables: dict[Case, Table]) -> Publish:
    def publish(case: Case) -> Published:
        frames = produce_frames(case.name, [0], batch_of(case.size, 1))
        with connected(server.port) as connection:
            connection.create_topic(case.name)
            published = driver.publish_to_kafka(server.port, case.publishers, case.name, frames)
            stored = connection.end_offset(case.name)
        tables[case].count("stored by Riverlog", published.acked, stored)
        return published

    return publish


def _to_redis(server: Server, driver: Driver, tables: dict[Case, Table]) -> Publish:
    def publish(case: Case) -> Published:
        frames = [xadd_frame(case.name, value_of(case.size))]
        published = driver.publish_to_redis(server.port, case.publishers, frames)
        stored = int(redis_ask(server.port, "XLEN", case.name).strip(b":\r\n"))
        tables[case].count("stored by Redis", published.acked, stored)
        return published

    return publish


def _measured(server: Server, publish: Publish, case: Case) -> Cell:
    user_s, system_s = cpu_s(server.pid)
    published = publish(case)
    user_after_s, system_after_s = cpu_s(server.pid)
    return Cell(
        published,
        (user_after_s - user_s) / published.acked * 1e6,
        (system_after_s - system_s) / published.acked * 1e6,
    )


def _add_rows(table: Table, case: Case, ours: list[Cells], theirs: list[Cells]) -> None:
    cells = {"Riverlog": [one[case] for one in ours], "Redis": [one[case] for one in theirs]}
    rates = {name: [cell.published.acks_per_s for cell in found] for name, found in cells.items()}
    table.add("Riverlog / Redis", ratios(rates["Riverlog"], rates["Redis"]), aim=case.aim)
    for name, found in cells.items():
        table.add(name, rates[name], "acks/s")
        table.add(f"{name}, p50", [cell.published.p50_us for cell in found], "µs")
        table.add(f"{name}, p99", [cell.published.p99_us for cell in found], "µs")
        table.add(f"{name}, CPU, own", [cell.user_us_per_ack for cell in found], "µs/ack")
        table.add(f"{name}, CPU, kernel", [cell.system_us_per_ack for cell in found], "µs/ack")


def _durability(
    place: Path, options: Options, driver: Driver, tables: dict[Case, Table], case: Case
) -> list[str]:
    """How many sync calls each server makes for an ack; in a run apart, as looking slows it."""
    notes = []
    for name, start, sender in (("Riverlog", riverlog, _to_riverlog), ("Redis", redis, _to_redis)):
        with start(place / f"{name}-{case.name}", options) as server:
            work = partial(sender(server, driver, tables), case)
            syncs, published = syncs_during(server.pid, place, work)
            notes.append(f"durability of {name}: {syncs.per(published.acked, 'ack')}")
    return notes
