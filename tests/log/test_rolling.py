"""Rolling by bytes, age and records, and what a closed segment leaves behind."""

import json
from random import Random

import pytest

from riverlog.log.errors import StorageFailed
from riverlog.log.partition import Partition
from riverlog.log.segment import hash_of
from riverlog.log.settings import LogSettings
from riverlog.log.tail import FILL_BYTES_MAX
from riverlog.stores.small_file import read_small_file
from riverlog.testing.disk_contents import SECTOR_BYTES
from riverlog.testing.simulated_disk import Effect, Fault, SimulatedDisk, Survival
from tests.crash.scene import content
from tests.log.logs import DIRECTORY, NOW_MS, append, batch_of, open_log, read_all, send, write

BATCH_BYTES = len(batch_of(b"0"))


def bases(log: Partition) -> list[int]:
    return [segment.base_offset for segment in log._segments]


def seal_at(disk: SimulatedDisk, base_offset: int) -> dict[str, int]:
    found: dict[str, int] = json.loads(read_small_file(disk, f"{DIRECTORY}/{base_offset:020}.seal"))
    return found


async def test_a_segment_holds_so_many_bytes_and_no_more() -> None:
    disk = SimulatedDisk(Random(0))
    log = open_log(disk, settings=LogSettings(segment_bytes=3 * BATCH_BYTES))
    for _ in range(7):
        await append(log, b"0")
    assert bases(log) == [0, 3, 6]
    assert len(content(disk, f"{DIRECTORY}/{0:020}.log")) == 3 * BATCH_BYTES


async def test_a_batch_larger_than_a_segment_gets_one_of_its_own() -> None:
    log = open_log(SimulatedDisk(Random(0)), settings=LogSettings(segment_bytes=100))
    for _ in range(3):
        await append(log, b"x" * 1_000)
    assert bases(log) == [0, 1, 2]


async def test_a_segment_holds_so_many_records() -> None:
    log = open_log(SimulatedDisk(Random(0)), settings=LogSettings(segment_records=4))
    for _ in range(5):
        await append(log, b"0", b"1")
    assert bases(log) == [0, 4, 8]


async def test_a_segment_is_written_for_so_long() -> None:
    log = open_log(SimulatedDisk(Random(0)), settings=LogSettings(segment_ms=1_000))
    for age_ms in (0, 999, 1_000, 1_500, 2_000):
        await send(log, batch_of(b"0"), NOW_MS + age_ms)
    assert bases(log) == [0, 2, 4]


async def test_age_counts_from_the_first_record_after_a_restart() -> None:
    disk = SimulatedDisk(Random(0))
    settings = LogSettings(segment_ms=1_000)
    log = open_log(disk, settings=settings)
    await send(log, batch_of(b"0"), NOW_MS)
    log.close()
    log = open_log(disk, epoch=2, settings=settings)
    await send(log, batch_of(b"0"), NOW_MS + 5_000)
    assert bases(log) == [0]
    await send(log, batch_of(b"0"), NOW_MS + 6_000)
    assert bases(log) == [0, 2]


async def test_a_seal_says_where_a_segment_ends_and_what_its_bytes_are() -> None:
    disk = SimulatedDisk(Random(0))
    log = open_log(disk, settings=LogSettings(segment_records=2))
    for _ in range(3):
        await append(log, b"0")
    data = content(disk, f"{DIRECTORY}/{0:020}.log")
    assert seal_at(disk, 0) == {
        "size_bytes": len(data),
        "next_offset": 2,
        "resume_offset": 2,
        "hash": hash_of(data),
        "max_timestamp_ms": NOW_MS,
        "record_count": 2,
        "last_append_ms": NOW_MS,
    }


async def test_a_new_segment_begins_when_the_old_one_is_durable_and_sealed() -> None:
    disk = SimulatedDisk(Random(0))
    disk.make_directory(DIRECTORY)
    disk.sync_directory("")
    log = open_log(disk, settings=LogSettings(segment_records=1))
    await append(log, b"a")
    write(log, batch_of(b"b"))
    after = disk.power_cut(Survival.NOTHING)
    assert seal_at(after, 0)["next_offset"] == 1


async def test_a_seal_that_cannot_be_written_is_made_up_for_at_the_next_start() -> None:
    disk = SimulatedDisk(Random(0))
    settings = LogSettings(segment_records=1)
    log = open_log(disk, settings=settings)
    await append(log, b"a")
    disk.inject(Fault(Effect.ENOSPC, times=None, fits=lambda path: ".seal" in path))
    await append(log, b"b")
    await append(log, b"c")
    assert bases(log) == [0, 1, 2]
    assert [value for _, value in read_all(log)] == [b"a", b"b", b"c"]
    after = disk.process_crash()
    log = open_log(after, epoch=2, settings=settings)
    assert [seal_at(after, base)["next_offset"] for base in (0, 1)] == [1, 2]
    assert [value for _, value in read_all(log)] == [b"a", b"b", b"c"]


async def test_small_batches_find_their_blocks_filled_with_zeros_ahead() -> None:
    disk = SimulatedDisk(Random(0))
    log = open_log(disk)
    sizes = []
    for _ in range(200):
        await append(log, b"x" * 1_000)
        sizes.append(len(content(disk, f"{DIRECTORY}/{0:020}.log")))
    assert len(set(sizes)) < 12
    assert all(size % 4096 == 0 for size in sizes)
    assert max(sizes) <= 2 * log._segments[0].size_bytes + FILL_BYTES_MAX
    log.close()
    assert len(content(disk, f"{DIRECTORY}/{0:020}.log")) == log._segments[0].size_bytes


async def test_no_room_for_zeros_is_no_reason_to_refuse_records() -> None:
    disk = SimulatedDisk(Random(0), capacity_bytes=1_024)
    log = open_log(disk)
    for _ in range(8):
        await append(log, b"x" * 40)
    assert len(read_all(log)) == 8


async def test_a_refused_batch_gives_its_room_back_at_once() -> None:
    disk = SimulatedDisk(Random(0), capacity_bytes=4_096)
    log = open_log(disk)
    await append(log, b"x")
    with pytest.raises(StorageFailed):
        await append(log, b"x" * 20_000)
    assert disk.free_bytes() == 4_096 - SECTOR_BYTES
