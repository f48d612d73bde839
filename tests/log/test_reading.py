"""Reading by offset: whole batches, from the right one on, and nothing that is not durable."""

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.log.damage import Damage
from riverlog.log.errors import OffsetOutOfRange
from riverlog.log.partition import Partition
from riverlog.log.settings import LogSettings
from riverlog.records.batch import HEADER_SIZE, split
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk
from riverlog.testing.virtual_loop import run
from tests.crash.scene import content, put
from tests.log.held_syncer import HeldSyncer
from tests.log.logs import (
    DIRECTORY,
    append,
    batch_of,
    open_log,
    read_all,
    records_in,
    write,
)


def new_disk() -> SimulatedDisk:
    return SimulatedDisk(Random(0))


def values_in(data: memoryview) -> list[bytes | None]:
    return [value for _, value in records_in(data)]


async def three_batches() -> Partition:
    log = open_log(new_disk())
    await append(log, b"0", b"1", b"2")
    await append(log, b"3")
    await append(log, b"4", b"5")
    return log


async def test_a_read_in_the_middle_of_a_batch_gives_the_whole_batch() -> None:
    log = await three_batches()
    assert values_in(log.read(1, 1 << 20))[:3] == [b"0", b"1", b"2"]
    assert values_in(log.read(5, 1 << 20)) == [b"4", b"5"]


async def test_one_batch_comes_however_small_the_limit() -> None:
    log = await three_batches()
    assert values_in(log.read(0, 1)) == [b"0", b"1", b"2"]
    assert values_in(log.read(3, 0)) == [b"3"]


async def test_beyond_the_first_batch_the_limit_holds() -> None:
    log = await three_batches()
    whole = log.read(0, 1 << 20)
    sizes = [header.size_bytes for _, header in split(whole)]
    assert len(log.read(0, sizes[0] + sizes[1])) == sizes[0] + sizes[1]
    assert len(log.read(0, sizes[0] + sizes[1] - 1)) == sizes[0]


async def test_at_the_end_there_is_nothing() -> None:
    log = await three_batches()
    assert bytes(log.read(6, 1 << 20)) == b""


async def test_offsets_that_are_not_there_are_out_of_range() -> None:
    log = await three_batches()
    for offset in (-1, 7):
        with pytest.raises(OffsetOutOfRange):
            log.read(offset, 1)


async def test_an_empty_log_reads_empty() -> None:
    assert bytes(open_log(new_disk()).read(0, 100)) == b""


async def test_what_is_not_durable_is_not_read() -> None:
    syncer = HeldSyncer()
    log = open_log(new_disk(), syncer=syncer)
    write(log, batch_of(b"first"))
    await asyncio.sleep(0)
    assert log.high_watermark == 0
    assert bytes(log.read(0, 100)) == b""
    await syncer.release()
    write(log, batch_of(b"second"))
    assert log.high_watermark == 1
    assert values_in(log.read(0, 1 << 20)) == [b"first"]
    with pytest.raises(OffsetOutOfRange):
        log.read(2, 100)


async def test_a_segment_ends_where_its_next_begins() -> None:
    log = open_log(new_disk(), settings=LogSettings(segment_records=2))
    for number in range(7):
        await append(log, b"%d" % number)
    assert values_in(log.read(0, 1 << 20)) == [b"0", b"1"]
    assert values_in(log.read(2, 1 << 20)) == [b"2", b"3"]
    assert [value for _, value in read_all(log)] == [b"%d" % number for number in range(7)]


async def test_an_offset_that_a_failed_sync_left_unused_reads_on_behind_it() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"kept")
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
    write(log, batch_of(b"lost", b"lost"))
    await asyncio.sleep(0)
    appended = await append(log, b"later")
    assert appended.base_offset == 3
    assert [value for _, value in read_all(log)] == [b"kept", b"later"]
    for offset in (1, 2, 3):
        assert records_in(log.read(offset, 100)) == [(3, b"later")]


async def test_a_file_cut_while_it_is_in_use_is_an_error_and_no_endless_loop() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a")
    await append(log, b"b")
    put(disk, f"{DIRECTORY}/{0:020}.log", b"")
    with pytest.raises(OSError, match="cut"):
        log.read(1, 100)
    with pytest.raises(OSError, match="cut"):
        log.first_at_or_after(0)


async def test_an_unread_segment_that_could_not_be_checked_is_checked_again() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a" * 100)
    await append(log, b"b" * 100)
    log.close()
    path = f"{DIRECTORY}/{0:020}.log"
    data = bytearray(content(disk, path))
    data[HEADER_SIZE + 50] ^= 1
    put(disk, path, data)
    damages: list[Damage] = []
    log = open_log(disk, epoch=2, report=damages.append)
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({Op.CREATE})))
    with pytest.raises(OSError, match="No space"):
        log.read(0, 1 << 20)
    assert values_in(log.read(0, 1 << 20)) == [b"b" * 100]
    assert len(damages) == 1


# What a log of every shape gives for any question: batches of records, limits, restarts, damage.
shapes = st.lists(st.lists(st.integers(0, 3_000), min_size=1, max_size=4), min_size=1, max_size=14)


@settings(max_examples=300, deadline=None)
@given(shapes, st.integers(1, 9_000), st.booleans(), st.data())
def test_any_read_of_any_log_gives_what_a_list_would(
    shape: list[list[int]], segment_bytes: int, is_damaged: bool, data: st.DataObject
) -> None:
    disk = new_disk()
    options = LogSettings(segment_bytes=segment_bytes, checkpoint_bytes=4_000)
    batches: list[list[tuple[int, bytes]]] = []

    async def fill() -> None:
        log = open_log(disk, settings=options)
        offset = 0
        for sizes in shape:
            values = [bytes([offset % 251]) * size for size in sizes]
            await append(log, *values)
            batches.append(list(enumerate(values, offset)))
            offset += len(values)
        log.close()

    run(fill())
    damages: list[Damage] = []
    if is_damaged:
        hit = data.draw(st.integers(0, len(batches) - 1), label="hit")
        _damage(disk, batches[hit][0][0])
        del batches[hit]
    sizes = {batch[0][0]: len(batch_of(*(value for _, value in batch))) for batch in batches}

    async def ask() -> None:
        log = open_log(disk, epoch=2, settings=options, report=damages.append)
        for _ in range(6):
            offset = data.draw(st.integers(0, log.high_watermark), label="offset")
            bytes_max = data.draw(st.integers(0, 12_000), label="bytes_max")
            answer = log.read(offset, bytes_max)
            expected = [batch for batch in batches if batch[-1][0] >= offset]
            if not expected:
                gaps = [(h.base_offset, h.next_offset, h.record_count) for _, h in split(answer)]
                end = log.high_watermark
                assert gaps == ([(offset, end, 0)] if offset < end else [])
                continue
            found = records_in(answer)
            count = len(list(split(answer)))
            assert found == [pair for batch in expected[:count] for pair in batch]
            assert len(answer) <= max(bytes_max, sizes[expected[0][0][0]])
            assert count >= 1
        assert read_all(log, 5_000) == [pair for batch in batches for pair in batch]

    run(ask())
    assert len(damages) == int(is_damaged)


def _damage(disk: SimulatedDisk, base_offset: int) -> None:
    """Changes a byte in the records of the batch at `base_offset`."""
    for name in disk.list(DIRECTORY):
        if name.endswith(".log"):
            data = bytearray(content(disk, f"{DIRECTORY}/{name}"))
            for position, header in split(data):
                if header.base_offset == base_offset:
                    data[position + HEADER_SIZE] ^= 0x40
                    put(disk, f"{DIRECTORY}/{name}", data)
                    return
    raise AssertionError(f"no batch begins at {base_offset}")
