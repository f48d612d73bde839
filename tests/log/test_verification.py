"""Checking a segment that was not read since the start: out of the way, once, and for sure."""

import asyncio
from random import Random

import pytest

from riverlog.log import reading
from riverlog.log.damage import Damage
from riverlog.log.segment import hash_of
from riverlog.log.verification import verify
from riverlog.records.batch import HEADER_SIZE
from riverlog.stores.disk import opened
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk
from tests.crash.scene import content, put
from tests.log.logs import DIRECTORY, append, batch_of, open_log, read_all

PATH = f"{DIRECTORY}/{0:020}.log"


async def closed_log(batches: int = 3) -> SimulatedDisk:
    disk = SimulatedDisk(Random(0))
    log = open_log(disk)
    for number in range(batches):
        await append(log, b"%d" % number * 3_000)
    log.close()
    return disk


def change(disk: SimulatedDisk, position: int) -> None:
    data = bytearray(content(disk, PATH))
    data[position] ^= 1
    put(disk, PATH, data)


async def test_the_hash_and_the_index_are_made_in_one_go() -> None:
    disk = await closed_log()
    data = content(disk, PATH)
    with opened(disk.open(PATH)) as file:
        found = verify(file, len(data), [])
    assert found.hash_so_far == hash_of(data)
    assert found.index is not None
    assert found.index.position_before(1) == 0
    assert found.index.position_before(2) == 2 * len(batch_of(b"0" * 3_000))


async def test_holes_are_left_out() -> None:
    disk = await closed_log()
    data = content(disk, PATH)
    size = len(data) // 3
    with opened(disk.open(PATH)) as file:
        found = verify(file, len(data), [(size, 2 * size)])
    assert found.hash_so_far == hash_of(data[:size] + data[2 * size :])


async def test_bytes_that_are_no_batches_have_no_index() -> None:
    disk = await closed_log()
    data = content(disk, PATH)
    with opened(disk.open(PATH)) as file:
        assert verify(file, len(data) - 1, []).index is None
        assert verify(file, len(data) + 1, []).index is None


async def test_small_segments_are_checked_where_they_are_read() -> None:
    log = open_log(await closed_log(), epoch=2)
    assert log.has_unchecked
    assert log.make_ready(0) is None
    assert len(read_all(log)) == 3
    assert not log.has_unchecked


async def test_large_segments_are_checked_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "INLINE_CHECK_BYTES_MAX", 1)
    log = open_log(await closed_log(), epoch=2)
    ready = log.make_ready(0)
    assert ready is not None
    await ready
    assert not log.has_unchecked
    assert log.make_ready(0) is None
    assert len(read_all(log)) == 3


async def test_what_is_written_meanwhile_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "INLINE_CHECK_BYTES_MAX", 1)
    log = open_log(await closed_log(), epoch=2)
    await append(log, b"new")
    ready = log.make_ready(0)
    assert ready is not None
    await ready
    assert [offset for offset, _ in read_all(log)] == [0, 1, 2, 3]


async def test_damage_is_found_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "INLINE_CHECK_BYTES_MAX", 1)
    disk = await closed_log()
    change(disk, HEADER_SIZE + 10)
    damages: list[Damage] = []
    log = open_log(disk, epoch=2, report=damages.append)
    ready = log.make_ready(0)
    assert ready is not None
    await ready
    assert [offset for offset, _ in read_all(log)] == [1, 2]
    assert len(damages) == 1


async def test_a_check_that_failed_is_told_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "INLINE_CHECK_BYTES_MAX", 1)
    disk = await closed_log()
    log = open_log(disk, epoch=2)
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.READ})))
    ready = log.make_ready(0)
    assert ready is not None
    with pytest.raises(OSError, match="Input/output"):
        await asyncio.wait_for(ready, 1)
    assert log.has_unchecked
    assert len(read_all(log)) == 3


async def test_damage_that_could_not_be_kept_aside_is_told_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "INLINE_CHECK_BYTES_MAX", 1)
    disk = await closed_log()
    change(disk, HEADER_SIZE + 10)
    damages: list[Damage] = []
    log = open_log(disk, epoch=2, report=damages.append)
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({Op.CREATE})))
    ready = log.make_ready(0)
    assert ready is not None
    with pytest.raises(OSError, match="No space"):
        await asyncio.wait_for(ready, 1)
    assert [offset for offset, _ in read_all(log)] == [1, 2]
