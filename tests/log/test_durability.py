"""What is durable when: syncs that are late, fail, or come at a bad moment."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from riverlog.log.errors import LogClosed, StorageFailed
from riverlog.log.partition import Appended, Partition
from riverlog.log.settings import LogSettings
from riverlog.stores.syncer import AdaptiveSyncer
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from riverlog.testing.virtual_loop import run
from tests.log.held_syncer import HeldSyncer
from tests.log.logs import (
    DIRECTORY,
    Read,
    append,
    batch_of,
    open_log,
    read_all,
    send,
    write,
)

SYNC = frozenset({Op.SYNC})
PRODUCER = (7, 0)


def new_disk(seed: int = 0) -> SimulatedDisk:
    disk = SimulatedDisk(Random(seed))
    disk.make_directory(DIRECTORY)
    disk.sync_directory("")
    return disk


def after_power_cut(disk: SimulatedDisk) -> list[Read]:
    after = disk.power_cut(Survival.NOTHING)

    async def look() -> list[Read]:
        return read_all(open_log(after, epoch=9))

    return run(look())


async def test_offsets_are_given_at_once_and_the_high_watermark_follows_the_sync() -> None:
    syncer = HeldSyncer()
    log = open_log(new_disk(), syncer=syncer)
    assert write(log, batch_of(b"a", b"b")).base_offset == 0
    assert write(log, batch_of(b"c")).base_offset == 2
    assert await syncer.begun()
    assert (log.next_offset, log.high_watermark) == (3, 0)
    await syncer.release()
    assert log.high_watermark == 3


async def test_durable_means_there_after_a_power_cut() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a")
    write(log, batch_of(b"not synced yet"))
    disk.power_cut(Survival.NOTHING)
    assert [value for _, value in await asyncio.to_thread(after_power_cut, disk)] == [b"a"]


async def test_what_was_written_after_a_sync_began_waits_for_the_next_one() -> None:
    syncer = HeldSyncer()
    log = open_log(new_disk(), syncer=syncer)
    early = log.durable(write(log, batch_of(b"a")).end_offset)
    assert await syncer.begun()
    late = log.durable(write(log, batch_of(b"b")).end_offset)
    await syncer.release()
    assert early is not None
    assert late is not None
    await early
    assert not late.done()
    await syncer.release()
    await late


async def test_a_failed_sync_fails_everyone_who_waits_and_acknowledges_nobody() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"kept")
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    waiting = [log.durable(write(log, batch_of(value)).end_offset) for value in (b"a", b"b")]
    for future in waiting:
        assert future is not None
        with pytest.raises(StorageFailed):
            await future
    assert log.high_watermark == 1
    assert [value for _, value in read_all(log)] == [b"kept"]


async def test_a_file_whose_sync_failed_is_never_synced_again() -> None:
    disk, syncer = new_disk(), HeldSyncer()
    log = open_log(disk, syncer=syncer)
    write(log, batch_of(b"a"))
    assert await syncer.begun()
    write(log, batch_of(b"b"))
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    await syncer.release()
    await syncer.release()
    assert len([path for op, path in disk.trace if op is Op.SYNC]) == 1
    assert log.high_watermark == 0


async def test_after_a_failed_sync_the_log_goes_on_at_offsets_never_given() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"kept")
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    with pytest.raises(StorageFailed):
        await append(log, b"lost", b"lost")
    assert (await append(log, b"next")).base_offset == 3
    expected = [(0, b"kept"), (3, b"next")]
    assert await asyncio.to_thread(after_power_cut, disk) == expected


async def test_appends_are_refused_while_the_disk_still_fails_and_taken_when_it_does_not() -> None:
    disk = new_disk()
    log = open_log(disk)
    disk.inject(Fault(Effect.EIO, times=None))
    with pytest.raises(StorageFailed):
        await append(log, b"a")
    with pytest.raises(StorageFailed):
        await append(log, b"b")
    disk.clear_faults()
    await append(log, b"c")
    assert [value for _, value in read_all(log)] == [b"c"]


async def test_a_refused_batch_leaves_nothing_behind() -> None:
    disk = new_disk()
    log = open_log(disk)
    await append(log, b"a")
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({Op.WRITE})))
    with pytest.raises(StorageFailed):
        write(log, batch_of(b"x" * 3_000))
    appended = await append(log, b"b")
    assert appended.base_offset == 1
    assert await asyncio.to_thread(after_power_cut, disk) == [(0, b"a"), (1, b"b")]


async def test_a_duplicate_under_way_waits_for_its_original() -> None:
    syncer = HeldSyncer()
    log = open_log(new_disk(), syncer=syncer)
    batch = batch_of(b"a", producer=PRODUCER)
    original = write(log, batch)
    assert await syncer.begun()
    write(log, batch_of(b"other"))
    duplicate = write(log, batch)
    assert duplicate == (original.base_offset, original.end_offset, -1, True)
    durable = log.durable(duplicate.end_offset)
    assert durable is not None
    await syncer.release()
    await durable
    assert log.high_watermark == 1


async def test_a_duplicate_of_what_is_durable_is_answered_at_once() -> None:
    log = open_log(new_disk())
    batch = batch_of(b"a", producer=PRODUCER)
    await send(log, batch)
    assert log.durable(write(log, batch).end_offset) is None
    assert len(read_all(log)) == 1


async def test_a_batch_whose_sync_failed_is_no_duplicate() -> None:
    disk = new_disk()
    log = open_log(disk)
    first, second = (batch_of(b"%d" % n, producer=PRODUCER, sequence=n) for n in range(2))
    await send(log, first)
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    with pytest.raises(StorageFailed):
        await send(log, second)
    appended = await send(log, second)
    assert not appended.is_duplicate
    assert write(log, first).is_duplicate
    assert [value for _, value in read_all(log)] == [b"0", b"1"]


async def test_no_batch_overtakes_one_that_a_failed_sync_lost() -> None:
    disk = new_disk()
    log = open_log(disk)
    first, second = (batch_of(b"%d" % n, producer=PRODUCER, sequence=n) for n in range(2))
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    with pytest.raises(StorageFailed):
        await send(log, first)
    # Not "out of order": told that, librdkafka begins anew and sends what is in the log again.
    with pytest.raises(StorageFailed):
        write(log, second)
    await send(log, first)
    await send(log, second)
    assert [value for _, value in read_all(log)] == [b"0", b"1"]


async def test_no_batch_overtakes_one_that_was_refused() -> None:
    disk = new_disk()
    log = open_log(disk)
    first, second = (batch_of(b"%d" % n, producer=PRODUCER, sequence=n) for n in range(2))
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({Op.WRITE})))
    with pytest.raises(StorageFailed):
        write(log, first)
    # Not "out of order": told that, librdkafka begins anew and sends what is in the log again.
    with pytest.raises(StorageFailed):
        write(log, second)
    await send(log, first)
    await send(log, second)


async def test_no_checkpoint_holds_what_a_failed_sync_lost() -> None:
    disk, syncer = new_disk(), HeldSyncer()
    log = open_log(disk, syncer=syncer, settings=LogSettings(checkpoint_bytes=1))
    lost = batch_of(b"lost", producer=PRODUCER)
    write(log, lost)
    assert await syncer.begun()
    write(log, batch_of(b"more"))
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    await syncer.release()
    await syncer.release()
    assert "checkpoint" not in disk.list(DIRECTORY)
    assert not write(log, lost).is_duplicate


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_file_stays_open_from_a_write_to_its_sync_however_few_may_be_open(
    is_lost: bool,
) -> None:
    """Else nobody might be told that the disk failed to keep something in the meantime."""
    for seed in range(8):
        disk, syncer = new_disk(seed), HeldSyncer()
        log = open_log(disk, syncer=syncer, open_max=1)
        durable = log.durable(write(log, batch_of(b"a")).end_offset)
        assert durable is not None
        if is_lost:
            _fail_to_write_back(log, disk)
        handles = log._shared.handles
        handles.keep("other", disk.create("other"))
        handles.use("other")
        await syncer.release()
        if is_lost:
            with pytest.raises(StorageFailed):
                await durable
        else:
            await durable
        assert not handles.is_lent(log._segments[0].path)


def _fail_to_write_back(log: Partition, disk: SimulatedDisk) -> None:
    """What is not synced is lost, and only the file's next sync will tell."""
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.TRUNCATE})))
    assert log._end._tail is not None
    with pytest.raises(OSError, match="Input/output"):
        log._end._tail.trim()


async def test_a_sync_whose_file_cannot_be_opened_has_failed() -> None:
    disk = new_disk()
    log = open_log(disk, open_max=1)
    await send(log, batch_of(b"a"))
    log._shared.handles.drop(log._segments[-1].path)
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.OPEN})))
    log._end.want_checkpoint()
    await log._shared.commit.idle()
    assert log._end.failure is not None
    await send(log, batch_of(b"b"))
    assert [value for _, value in read_all(log)] == [b"a", b"b"]


@pytest.mark.parametrize("closes", [False, True])
async def test_a_roll_or_an_end_whose_file_cannot_be_opened_seals_nothing(closes: bool) -> None:
    disk = new_disk()
    log = open_log(disk, settings=LogSettings(segment_records=1))
    await send(log, batch_of(b"a"))
    log._shared.handles.drop(log._segments[-1].path)
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.OPEN})))
    if closes:
        with pytest.raises(OSError, match="Input/output"):
            log.close()
    else:
        with pytest.raises(StorageFailed):
            write(log, batch_of(b"b"))
    assert not {"checkpoint", f"{0:020}.seal"} & set(disk.list(DIRECTORY))


async def test_an_empty_tail_has_nothing_to_lose() -> None:
    disk, syncer = new_disk(), HeldSyncer()
    log = open_log(disk, syncer=syncer, settings=LogSettings(segment_records=1))
    write(log, batch_of(b"a"))
    is_second = f"{1:020}.log".__eq__
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({Op.WRITE}), fits=lambda p: is_second(p[4:])))
    with pytest.raises(StorageFailed):
        write(log, batch_of(b"refused"))
    log._shared.handles.drop(log._segments[-1].path)
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.OPEN})))
    await syncer.release()
    disk.clear_faults()
    write(log, batch_of(b"b"))
    await syncer.release()
    assert [value for _, value in read_all(log)] == [b"a", b"b"]


async def test_a_full_segment_is_rolled_only_when_its_sync_has_ended() -> None:
    disk, syncer = new_disk(), HeldSyncer()
    log = open_log(disk, syncer=syncer, settings=LogSettings(segment_records=1))
    write(log, batch_of(b"a"))
    assert await syncer.begun()
    write(log, batch_of(b"b"))
    assert len(log._segments) == 1
    await syncer.release()
    assert log.high_watermark == 2
    write(log, batch_of(b"c"))
    assert len(log._segments) == 2


async def test_a_closed_log_takes_nothing_and_tells_those_who_wait() -> None:
    log = open_log(new_disk(), syncer=HeldSyncer())
    durable = log.durable(write(log, batch_of(b"a")).end_offset)
    log.abandon()
    assert durable is not None
    with pytest.raises(LogClosed):
        await durable
    with pytest.raises(LogClosed):
        write(log, batch_of(b"b"))


async def test_a_log_closes_though_a_checkpoint_was_due() -> None:
    syncer = AdaptiveSyncer()
    log = open_log(new_disk(), syncer=syncer, settings=LogSettings(checkpoint_bytes=1))
    write(log, batch_of(b"a"))
    syncer.close()
    log.close()


async def test_a_checkpoint_that_fails_costs_nothing() -> None:
    disk = new_disk()
    log = open_log(disk, settings=LogSettings(checkpoint_bytes=1))
    disk.inject(Fault(Effect.ENOSPC, times=None, fits=lambda path: "checkpoint" in path))
    await append(log, b"a")
    await append(log, b"b")
    assert await asyncio.to_thread(after_power_cut, disk) == [(0, b"a"), (1, b"b")]


async def test_a_round_is_awaited_by_whoever_waits_for_the_disk_or_for_more_to_read() -> None:
    syncer = HeldSyncer()
    log = open_log(new_disk(), syncer=syncer)

    async def round_of(*waiting: Callable[[Appended], object]) -> None:
        appended = write(log, batch_of(b"value"))
        for wait in waiting:
            wait(appended)
        await syncer.release()

    def watcher() -> None:
        """It has nothing to do with what it is told."""

    await round_of()
    await round_of(lambda appended: log.durable(appended.end_offset))
    await round_of()
    await round_of(lambda _: log.settled())
    await round_of(lambda _: log.waiting.watch(watcher))
    log.waiting.unwatch(watcher)
    await round_of()

    assert syncer.awaited == [False, True, False, True, True, False]
    assert log.settled() is None
