"""Opening a log: what is believed, what is read again, and what is durable before it counts."""

import asyncio
from random import Random

import pytest

from riverlog.log.damage import Damage
from riverlog.log.errors import StorageFailed
from riverlog.log.partition import Partition
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared
from riverlog.records.batch import HEADER_SIZE
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from tests.crash.scene import content, put
from tests.log.logs import DIRECTORY, append, batch_of, open_log, read_all, send, write

FIRST = f"{DIRECTORY}/{0:020}.log"
CHECKPOINT = f"{DIRECTORY}/checkpoint"


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk(Random(0))
    disk.make_directory(DIRECTORY)
    disk.sync_directory("")
    return disk


def values(log: Partition) -> list[bytes | None]:
    return [value for _, value in read_all(log)]


def bytes_read(disk: SimulatedDisk) -> int:
    """How many reads of segments there were."""
    return sum(op is Op.READ and path.endswith(".log") for op, path in disk.trace)


async def test_after_a_clean_stop_nothing_is_read() -> None:
    disk = new_disk()
    log = open_log(disk, settings=LogSettings(segment_records=3))
    for _ in range(8):
        await append(log, b"x")
    log.close()
    after = disk.process_crash()
    log = open_log(after, epoch=2)
    assert log.next_offset == log.high_watermark == 8
    assert bytes_read(after) == 0
    assert not [op for op, _ in after.trace if op in (Op.SYNC, Op.SYNC_DIRECTORY, Op.WRITE)]


async def test_after_a_crash_only_what_follows_the_checkpoint_is_read() -> None:
    disk = new_disk()
    settings = LogSettings(checkpoint_bytes=10_000)
    log = open_log(disk, settings=settings)
    for _ in range(100):
        await append(log, b"x" * 1_000)
    after = disk.process_crash()
    written: list[int] = []
    log = open_log(after, epoch=2, settings=settings)
    written = [1 for op, path in after.trace if op is Op.WRITE and path == FIRST]
    assert log.next_offset == 100
    assert len(written) < 12
    assert len(values(log)) == 100


async def test_what_a_killed_broker_wrote_is_durable_before_it_is_shown() -> None:
    disk = new_disk()
    write(open_log(disk), batch_of(b"acks=1"))
    after = disk.process_crash()
    assert values(open_log(after, epoch=2)) == [b"acks=1"]
    assert values(open_log(after.power_cut(Survival.NOTHING), epoch=3)) == [b"acks=1"]


async def test_a_file_made_by_a_killed_broker_has_a_durable_name_before_it_is_written() -> None:
    disk = new_disk()
    disk.inject(Fault(Effect.CRASH_AFTER, ops=frozenset({Op.CREATE})))
    log = open_log(disk)
    with pytest.raises(BaseException, match="after change"):
        write(log, batch_of(b"never written"))
    after = disk.process_crash()
    await append(open_log(after, epoch=2), b"kept")
    assert values(open_log(after.power_cut(Survival.NOTHING), epoch=3)) == [b"kept"]


async def test_directories_made_by_a_killed_broker_are_durable_before_anything_is_shown() -> None:
    disk = SimulatedDisk(Random(0))
    directories = ["data", "data/topic", "data/topic/0"]

    def opened(on: SimulatedDisk, epoch: int) -> Partition:
        shared = open_log(on)._shared
        return Partition(
            Shared(*shared), directories, LogSettings(), leader_epoch=epoch, epoch_max=epoch - 1
        )

    write(opened(disk, 1), batch_of(b"a"))
    after = disk.process_crash()
    assert values(opened(after, 2)) == [b"a"]
    # The data directory itself is not the log's to make durable.
    after.sync_directory("")
    assert values(opened(after.power_cut(Survival.NOTHING), 3)) == [b"a"]


async def test_ghosts_of_a_failed_sync_are_written_again() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"kept")
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
    with pytest.raises(StorageFailed):
        await append(log, b"ghost")
    after = disk.process_crash()
    shown = values(open_log(after, epoch=2))
    assert values(open_log(after.power_cut(Survival.NOTHING), epoch=3)) == shown


async def test_a_recovery_that_failed_can_be_tried_again() -> None:
    disk = new_disk()
    write(open_log(disk), batch_of(b"a"))
    after = disk.process_crash()
    after.inject(Fault(Effect.EIO, times=2, ops=frozenset({Op.SYNC})))
    with pytest.raises(OSError, match="Input/output"):
        open_log(after, epoch=2)
    assert values(open_log(after, epoch=2)) == [b"a"]
    assert values(open_log(after.power_cut(Survival.NOTHING), epoch=3)) == [b"a"]


async def test_what_an_earlier_process_failed_to_keep_is_no_failure_of_the_next_one() -> None:
    disk = new_disk()
    write(log := open_log(disk), batch_of(b"a"))
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.TRUNCATE})))
    with pytest.raises(OSError, match="Input/output"):
        log._end._tail.trim()  # type: ignore[union-attr]  # it was written to
    after = disk.process_crash()
    assert values(open_log(after, epoch=2)) == [b"a"]
    assert values(open_log(after.power_cut(Survival.NOTHING), epoch=3)) == [b"a"]


async def test_producers_and_epochs_come_back_from_checkpoint_and_log_together() -> None:
    disk = new_disk()
    settings = LogSettings(checkpoint_bytes=150)
    batches = [batch_of(b"%d" % n, producer=(7, 0), sequence=n) for n in range(6)]
    log = open_log(disk, settings=settings)
    for batch in batches[:3]:
        await send(log, batch)
    log.close()
    log = open_log(disk, epoch=2, settings=settings)
    for batch in batches[3:]:
        await send(log, batch)
    log = open_log(disk.power_cut(Survival.NOTHING), epoch=3)
    assert list(log.epochs) == [(1, 0), (2, 3)]
    assert [write(log, batch).base_offset for batch in batches[1:]] == [1, 2, 3, 4, 5]
    assert not write(log, batch_of(b"6", producer=(7, 0), sequence=6)).is_duplicate


async def test_a_lost_seal_before_the_checkpoint_sets_no_producer_back() -> None:
    disk = new_disk()
    settings = LogSettings(segment_records=2)
    batches = [batch_of(b"%d" % n, producer=(7, 0), sequence=n) for n in range(4)]
    log = open_log(disk, settings=settings)
    for batch in batches:
        await send(log, batch)
    # An empty tail: the checkpoint of a clean end then stands at its very beginning.
    writes = frozenset({Op.WRITE})
    disk.inject(Fault(Effect.ENOSPC, ops=writes, fits=lambda path: path.endswith("4.log")))
    with pytest.raises(StorageFailed):
        await append(log, b"refused")
    log.close()
    disk.remove(f"{DIRECTORY}/{0:020}.seal")
    log = open_log(disk, epoch=2, settings=settings)
    assert write(log, batches[3]).is_duplicate
    assert not write(log, batch_of(b"4", producer=(7, 0), sequence=4)).is_duplicate


async def test_a_torn_end_is_cut_kept_aside_and_reported() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a")
    await append(log, b"b" * 50)
    whole = content(disk, FIRST)[: log._segments[0].size_bytes]
    put(disk, FIRST, whole[:-20])
    damages: list[Damage] = []
    log = open_log(disk.process_crash(), epoch=2, report=damages.append)
    assert values(log) == [b"a"]
    assert len(damages) == 1
    disk = disk.process_crash()
    assert content(disk, damages[0].kept_in) == whole[damages[0].position : -20]


async def test_after_a_clean_stop_nothing_is_ever_cut() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a")
    await append(log, b"b" * 50)
    log.close()
    whole = content(disk, FIRST)
    put(disk, FIRST, whole[:-20])
    damages: list[Damage] = []
    log = open_log(disk, epoch=2, report=damages.append)
    assert values(log) == [b"a"]
    assert content(disk, FIRST) == whole[:-20]
    assert (await append(log, b"c")).base_offset == 2
    assert {damage.position for damage in damages} == {len(whole) - 20, len(batch_of(b"a"))}


async def test_a_hole_at_the_end_does_not_swallow_what_is_written_next() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a")
    await append(log, b"b")
    log.close()
    data = bytearray(content(disk, FIRST))
    data[-5] ^= 1
    put(disk, FIRST, data)
    log = open_log(disk, epoch=2, report=lambda _: None)
    assert values(log) == [b"a"]
    disk.remove(CHECKPOINT)
    log = open_log(disk.process_crash(), epoch=3, report=lambda _: None)
    await append(log, b"c")
    log.close()
    disk = disk.process_crash()
    assert values(open_log(disk, epoch=4, report=lambda _: None)) == [b"a", b"c"]


async def test_holes_that_meet_become_one() -> None:
    disk = new_disk()
    log = open_log(disk, settings=LogSettings(segment_records=4))
    for number in range(5):
        await append(log, b"%d" % number)
    log.close()
    size = len(batch_of(b"0"))
    for epoch, number in ((2, 1), (3, 2), (4, 0)):
        data = bytearray(content(disk, FIRST))
        data[number * size + HEADER_SIZE] ^= 1
        put(disk, FIRST, data)
        log = open_log(disk, epoch=epoch, report=lambda _: None)
        read_all(log)
        log.close()
    assert values(open_log(disk, epoch=5, report=lambda _: None)) == [b"3", b"4"]


@pytest.mark.parametrize("checkpoint_bytes", [1, 1 << 20])
async def test_damage_to_a_broken_segment_gives_no_offset_again(checkpoint_bytes: int) -> None:
    disk = new_disk()
    log = open_log(disk, settings=LogSettings(checkpoint_bytes=checkpoint_bytes))
    await append(log, b"a")
    await append(log, b"b")
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
    with pytest.raises(StorageFailed):
        await append(log, b"given away")
    disk.inject(Fault(Effect.ENOSPC, fits=lambda path: path.endswith(f"{3:020}.log")))
    with pytest.raises(StorageFailed):
        await append(log, b"leaves the broken file")
    disk = disk.power_cut(Survival.NOTHING)
    data = bytearray(content(disk, FIRST))
    data[HEADER_SIZE] ^= 1
    put(disk, FIRST, data)
    for epoch in (2, 3):
        log = open_log(disk, epoch=epoch, report=lambda _: None)
        assert values(log) == [b"b"]
        assert log.next_offset == 3


async def test_the_same_damage_is_reported_once() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a")
    await append(log, b"b")
    log.close()
    data = bytearray(content(disk, FIRST))
    data[HEADER_SIZE] ^= 1
    put(disk, FIRST, data)
    damages: list[Damage] = []
    for epoch in (2, 3, 4):
        log = open_log(disk, epoch=epoch, report=damages.append)
        assert values(log) == [b"b"]
        log.close()
        await asyncio.sleep(0)
    assert len(damages) == 1
