"""What consumer groups cost: rebalances, commits, many groups, and a bystander's patience.

A rebalance here is the broker's part of it: everyone joins again at once and asks for a share. In
real life members learn of it with their next heartbeat, which takes most of the time.
"""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks.batches import batch_of, produce_frames
from benchmarks.clients import Driver, Published
from benchmarks.group_members import GroupMember, Members, listed_groups
from benchmarks.kafka_connection import connected
from benchmarks.machine import rss_mb, workshop
from benchmarks.rounds import Options, interleaved, ratios
from benchmarks.servers import riverlog
from benchmarks.table import Table
from riverlog.protocol.codec import encode
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

SIZES = (2, 16, 64)
COMMITTERS = (1, 64)
GROUPS, PARTITIONS = 1_000, 1_000
PLACES_EACH = 10
TOPIC = "read"
COMMIT_VERSION = 7


def run(options: Options) -> Iterator[Table]:
    with workshop() as place:
        yield _rebalances(place / "rebalances", options)
        driver = Driver(place, options)
        yield _commits(place / "commits", options, driver)
        yield _many(place / "many", options, driver)
        yield _bystander(place / "bystander", options, driver)


def _rebalances(place: Path, options: Options) -> Table:
    table = Table("A rebalance, from the first JoinGroup to the last share")

    async def measure(port: int) -> None:
        groups = {count: await Members.connect(port, f"of-{count}", count) for count in SIZES}
        samples: dict[int, list[float]] = {count: [] for count in SIZES}
        for _ in range(options.rounds):
            for count, members in groups.items():
                samples[count].append(await members.rebalance() * 1_000)
        for count, members in groups.items():
            table.count(f"generations of {count} members", 1, len(members.generations))
            table.add(f"{count} members", samples[count], "ms")
            members.close()

    with riverlog(place, options) as server:
        asyncio.run(measure(server.port))
    return table


def _commits(place: Path, options: Options, driver: Driver) -> Table:
    table = Table("Commits of one offset each, durable")
    with riverlog(place, options) as server, connected(server.port) as connection:
        connection.create_topic(TOPIC)
        asyncio.run(_find_coordinator(server.port))
        frames = [_commit_frame(f"group-{number}", 0, 1) for number in range(max(COMMITTERS))]

        def commit(committers: int) -> Published:
            return driver.ask_kafka(server.port, committers, _error_position(), frames)

        variants = {str(count): lambda count=count: commit(count) for count in COMMITTERS}
        found = interleaved(table, options.rounds, variants)
        for name, cells in found.items():
            table.add(f"{name} at a time", [cell.acks_per_s for cell in cells], "commits/s")
            table.add(f"{name} at a time, p99", [cell.p99_us for cell in cells], "µs")
        stored = sum(connection.end_offset("__consumer_offsets", index) for index in range(4))
        acked = sum(cell.acked for cells in found.values() for cell in cells)
        table.count("written down", acked, stored)
    return table


def _many(place: Path, options: Options, driver: Driver) -> Table:
    groups, partitions = options.scaled(GROUPS), options.scaled(PARTITIONS)
    table = Table(f"{groups:,} groups with {PLACES_EACH} offsets each, {partitions:,} partitions")
    frames = [
        _commit_frame(f"group-{number}", number % partitions, PLACES_EACH, partitions)
        for number in range(groups)
    ]
    with riverlog(place, options) as server, connected(server.port) as connection:
        connection.create_topic(TOPIC, partitions)
        asyncio.run(_find_coordinator(server.port))
        before_mb = rss_mb(server.pid)
        acked = driver.ask_kafka(server.port, 1, _error_position(), frames, groups).acked
        table.count("groups", groups, acked)
        table.add("memory before", [before_mb], "MB")
        table.add("memory with them", [rss_mb(server.pid)], "MB")
        server.kill()
    started_s, known_s = [], []
    for _ in range(options.rounds):
        begun_s = time.perf_counter()
        with riverlog(place, options) as server, connected(server.port) as connection:
            connection.produce(TOPIC, batch_of(100, 1))
            started_s.append(time.perf_counter() - begun_s)
            _wait_until_known(server.port, groups)
            known_s.append(time.perf_counter() - begun_s)
            server.kill()
    table.add("start to the first accepted produce", started_s, "s")
    table.add("start to all groups listed", known_s, "s")
    return table


def _bystander(place: Path, options: Options, driver: Driver) -> Table:
    table = Table("One durable publisher, 100 B, beside a group of 64 that rebalances all the time")
    with ExitStack() as stack:
        server = stack.enter_context(riverlog(place, options))
        connection = stack.enter_context(connected(server.port))
        connection.create_topic(TOPIC)
        frames = produce_frames(TOPIC, [0], batch_of(100, 1))
        rebalanced = 0

        def publish() -> Published:
            return driver.publish_to_kafka(server.port, 1, TOPIC, frames)

        def publish_beside() -> Published:
            nonlocal rebalanced
            begun, is_over = threading.Event(), threading.Event()
            counts: list[int] = []
            group = threading.Thread(
                target=lambda: counts.append(asyncio.run(_keep_going(server.port, begun, is_over)))
            )
            group.start()
            begun.wait()
            try:
                return publish()
            finally:
                is_over.set()
                group.join()
                rebalanced += sum(counts)

        variants = {"alone": publish, "beside": publish_beside}
        found = interleaved(table, options.rounds, variants)
        for name, cells in found.items():
            table.add(f"{name}, p50", [cell.p50_us for cell in cells], "µs")
            table.add(f"{name}, p99", [cell.p99_us for cell in cells], "µs")
        alone, beside = ([cell.p99_us for cell in cells] for cells in found.values())
        table.add("p99, beside / alone", ratios(beside, alone))
        table.count(
            "written", sum(c.acked for v in found.values() for c in v), connection.end_offset(TOPIC)
        )
        table.notes.append(f"{rebalanced} rebalances; the members share the publisher's processor")
    return table


async def _keep_going(port: int, begun: threading.Event, is_over: threading.Event) -> int:
    try:
        members = await Members.connect(port, f"busy-{time.monotonic_ns()}", 64)
    finally:
        begun.set()
    count = 0
    while not is_over.is_set():
        await members.rebalance()
        count += 1
    members.close()
    return count


async def _find_coordinator(port: int) -> None:
    (await GroupMember.connect(port, "first")).close()


def _wait_until_known(port: int, count: int) -> None:
    while asyncio.run(listed_groups(port)) < count:
        time.sleep(0.005)


def _commit_frame(group: str, first: int, count: int, partitions: int = 1) -> bytes:
    topic = OffsetCommitRequestTopic(
        name=TOPIC,
        partitions=[
            OffsetCommitRequestPartition(
                partition_index=(first + number) % partitions,
                committed_offset=number,
                committed_metadata="",
            )
            for number in range(count)
        ],
    )
    request = OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=[topic]
    )
    return b"".join(request_frame(request, COMMIT_VERSION, 0, "committer"))


def _error_position() -> int:
    """Where in an OffsetCommit reply, behind its length prefix, the first error code is."""
    correlation_bytes = 4
    good, bad = (_commit_reply(code) for code in (0, -1))
    return correlation_bytes + next(at for at in range(len(good)) if good[at] != bad[at])


def _commit_reply(error_code: int) -> bytes:
    partition = OffsetCommitResponsePartition(partition_index=0, error_code=error_code)
    topic = OffsetCommitResponseTopic(name=TOPIC, partitions=[partition])
    return encode(OffsetCommitResponse(topics=[topic]), COMMIT_VERSION)
