"""A log that lets old segments go: what readers see, what is durable when, what is left on disk."""

import asyncio

import pytest

from riverlog.log.beginning import remove_files
from riverlog.log.damage import Damage
from riverlog.log.errors import OffsetOutOfRange, StorageFailed
from riverlog.log.partition import Partition
from riverlog.log.segment import segment_names
from riverlog.log.settings import LogSettings
from riverlog.log.start_offset import START_NAME
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from tests.crash.scene import content, new_disk, put
from tests.log import journaled
from tests.log.logs import DIRECTORY, NOW_MS, append, batch_of, open_log, read_all, send, write

DAY_MS = 86_400_000
# Two records in each segment.
SMALL = LogSettings(segment_records=2, checkpoint_bytes=1)
LATER_MS = NOW_MS + 8 * DAY_MS


async def filled(
    disk: SimulatedDisk, count: int = 7, settings: LogSettings = SMALL, epoch: int = 1
) -> Partition:
    """A log of `count` records in batches of one."""
    log = open_log(disk, settings=settings, epoch=epoch)
    for number in range(count):
        await send(log, batch_of(b"%d" % number, times_ms=[NOW_MS + number]))
    return log


async def retire(log: Partition, now_ms: int = NOW_MS, passes: int = 1) -> list[int]:
    """The base offsets of the segments that left in so many passes."""
    gone: list[int] = []
    for _ in range(passes):
        gone += [segment.base_offset for segment in await log.retire(now_ms)]
        await asyncio.sleep(0)  # A round of group commit, for a checkpoint that was wanted.
    return gone


def offsets(log: Partition) -> list[int]:
    return [offset for offset, _ in read_all(log)]


async def delete(log: Partition, offset: int) -> None:
    deleted = log.delete_before(offset)
    if deleted is not None:
        await deleted


def bases_on(disk: SimulatedDisk) -> list[int]:
    return sorted(segment_names(disk.list(DIRECTORY)))


async def test_the_oldest_segments_leave_and_readers_are_told_where_the_log_begins() -> None:
    log = await filled(new_disk(), settings=SMALL._replace(retention_segments=2))

    assert await retire(log) == [0, 2]

    assert log.log_start_offset == 4
    assert offsets(log) == [4, 5, 6]
    with pytest.raises(OffsetOutOfRange):
        log.read(3, 1_000)
    found = log.first_at_or_after(0)
    assert found is not None
    assert found.offset == 4


async def test_a_clock_that_jumps_costs_one_segment_in_each_pass() -> None:
    log = await filled(new_disk())

    assert await retire(log, LATER_MS) == [0]
    assert await retire(log, LATER_MS + 900 * DAY_MS) == [2]


async def test_the_segment_being_written_is_closed_and_goes_and_offsets_go_on() -> None:
    disk = new_disk()
    log = await filled(disk)

    gone = await retire(log, LATER_MS, passes=6)

    assert gone == [0, 2, 4, 6]
    assert (log.log_start_offset, log.high_watermark, offsets(log)) == (7, 7, [])
    remove_files(disk, DIRECTORY, gone)
    assert bases_on(disk) == [7]
    assert (await append(log, b"next")).base_offset == 7
    assert offsets(log) == [7]


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("lost", [(), (START_NAME,), ("checkpoint",)])
async def test_offsets_are_not_given_again_when_everything_has_gone(
    is_clean: bool, lost: tuple[str, ...]
) -> None:
    disk = new_disk()
    log = await filled(disk)
    gone = await retire(log, LATER_MS, passes=6)
    if is_clean:
        log.close()
    disk = disk.power_cut(Survival.NOTHING)
    remove_files(disk, DIRECTORY, gone)
    for name in lost:
        disk.remove(f"{DIRECTORY}/{name}")

    log = open_log(disk, epoch=2, settings=SMALL, report=lambda _: None)

    assert (log.log_start_offset, log.high_watermark) == (7, 7)
    assert (await append(log, b"next")).base_offset == 7


async def test_a_pass_over_an_empty_log_changes_nothing() -> None:
    disk = new_disk()
    log = open_log(disk, settings=SMALL)
    assert await retire(log, LATER_MS) == []
    await filled(disk)
    await retire(log, LATER_MS, passes=6)
    names = disk.list(DIRECTORY)
    assert await retire(log, LATER_MS) == []
    assert disk.list(DIRECTORY) == names


async def test_the_start_is_durable_before_anything_leaves() -> None:
    disk = new_disk()
    log = await filled(disk)
    disk.inject(Fault(Effect.ENOSPC, times=None, fits=lambda path: START_NAME in path))

    with pytest.raises(OSError, match="space"):
        await log.retire(LATER_MS)

    assert log.log_start_offset == 0
    assert len(offsets(log)) == 7
    disk.clear_faults()
    assert await retire(log, LATER_MS) == [0]
    again = open_log(disk.power_cut(Survival.NOTHING), epoch=2, settings=SMALL)
    assert again.log_start_offset == 2


async def test_what_was_left_of_segments_goes_at_the_next_start_with_all_beside_them() -> None:
    disk = new_disk()
    log = await filled(disk)
    await retire(log, LATER_MS, passes=2)
    disk.create(f"{DIRECTORY}/{2:020}.0-0.damaged").close()
    after = disk.process_crash()
    assert bases_on(after) == [0, 2, 4, 6]

    log = open_log(after, epoch=2, settings=SMALL)

    kept = {"checkpoint", START_NAME, f"{4:020}.log", f"{4:020}.seal", f"{6:020}.log"}
    assert set(after.list(DIRECTORY)) == kept
    assert (log.log_start_offset, offsets(log)) == (4, [4, 5, 6])


async def test_files_of_a_segment_that_was_lost_and_not_let_go_stay() -> None:
    disk = new_disk()
    log = await filled(disk)
    log.close()
    disk.remove(f"{DIRECTORY}/{0:020}.log")
    names = disk.list(DIRECTORY)

    open_log(disk, epoch=2, settings=SMALL)

    assert disk.list(DIRECTORY) == names


async def test_records_are_deleted_inside_a_segment_too() -> None:
    disk = new_disk()
    log = await filled(disk)

    await delete(log, 3)

    assert (log.log_start_offset, offsets(log)) == (3, [3, 4, 5, 6])
    earliest, latest = log.first_at_or_after(0), log.latest_in_time()
    assert earliest is not None
    assert latest is not None
    assert (earliest.offset, latest.offset) == (3, 6)
    after = disk.power_cut(Survival.NOTHING)
    log = open_log(after, epoch=2, settings=SMALL)
    assert (log.log_start_offset, offsets(log)) == (3, [3, 4, 5, 6])
    assert bases_on(after) == [2, 4, 6]


async def test_the_room_of_deleted_records_comes_back_with_the_next_pass() -> None:
    log = await filled(new_disk())
    await delete(log, 5)
    assert await retire(log) == [0, 2]
    await delete(log, log.high_watermark)
    assert await retire(log, passes=2) == [4, 6]
    assert (await append(log, b"next")).base_offset == 7


async def test_the_start_never_goes_back_and_never_beyond_what_is_durable() -> None:
    log = await filled(new_disk())
    await delete(log, 5)
    await delete(log, 2)
    assert log.log_start_offset == 5
    for offset in (-1, 8):
        with pytest.raises(OffsetOutOfRange):
            log.delete_before(offset)
    await delete(log, 7)
    assert log.log_start_offset == 7


async def test_of_a_batch_whose_first_records_were_deleted_the_rest_is_looked_at() -> None:
    log = open_log(new_disk())
    await send(log, batch_of(b"a", b"b", b"c", b"d", times_ms=[90, 20, 70, 70]))
    await send(log, batch_of(b"e", times_ms=[60]))

    await delete(log, 1)

    latest, first = log.latest_in_time(), log.first_at_or_after(80)
    assert latest is not None
    assert (latest.timestamp_ms, latest.offset) == (70, 2)
    assert first is None
    await delete(log, 4)
    latest = log.latest_in_time()
    assert latest is not None
    assert (latest.timestamp_ms, latest.offset) == (60, 4)


async def test_two_deletions_at_once_end_at_the_later_one() -> None:
    disk = new_disk()
    log = await filled(disk)
    first, second = log.delete_before(5), log.delete_before(3)
    for one in (first, second):
        if one is not None:
            await one
    assert log.log_start_offset == 5
    assert open_log(disk.power_cut(Survival.NOTHING), epoch=2).log_start_offset == 5


@pytest.mark.parametrize("damaged", [b"", b"{}", b'{"log_start_offset": 4}'])
async def test_a_damaged_start_is_reported_and_the_log_begins_with_its_first_segment(
    damaged: bytes,
) -> None:
    disk = new_disk()
    log = await filled(disk)
    await delete(log, 3)
    await retire(log)
    disk = disk.power_cut(Survival.NOTHING)
    remove_files(disk, DIRECTORY, [0])
    put(disk, f"{DIRECTORY}/{START_NAME}", damaged)
    disk.remove(f"{DIRECTORY}/checkpoint")
    damages: list[Damage] = []

    log = open_log(disk, epoch=2, settings=SMALL, report=damages.append)

    assert [damage.path for damage in damages] == [f"{DIRECTORY}/{START_NAME}"]
    assert (log.log_start_offset, log.next_offset) == (2, 7)
    assert content(disk, damages[0].kept_in) == damaged


async def test_producers_of_segments_that_are_gone_are_remembered() -> None:
    disk = new_disk()
    settings = SMALL._replace(checkpoint_bytes=1 << 20)
    log = open_log(disk, settings=settings)
    batches = [batch_of(b"x", producer=(7, 0), sequence=number) for number in range(3)]
    for batch in batches:
        await send(log, batch)
    await delete(log, 3)
    gone = await retire(log, passes=4)
    assert gone == [0, 2]
    disk = disk.power_cut(Survival.NOTHING)
    remove_files(disk, DIRECTORY, gone)
    assert bases_on(disk) == [3]

    log = open_log(disk, epoch=2, settings=settings)

    assert write(log, batches[2]).is_duplicate


async def test_producers_of_deleted_records_are_remembered_before_any_checkpoint() -> None:
    disk = new_disk()
    log = open_log(disk)
    batch = batch_of(b"x", producer=(7, 0))
    await send(log, batch)
    await append(log, b"y")
    await delete(log, 2)

    log = open_log(disk.power_cut(Survival.NOTHING), epoch=2)

    assert write(log, batch).is_duplicate


async def test_nothing_leaves_before_a_checkpoint_tells_of_its_producers() -> None:
    disk = new_disk()
    log = await filled(disk, settings=SMALL._replace(checkpoint_bytes=1 << 20))
    disk.inject(Fault(Effect.EIO, times=None, fits=lambda path: "checkpoint" in path))
    assert await retire(log, LATER_MS, passes=3) == []
    disk.clear_faults()
    assert await retire(log, LATER_MS, passes=2) == [0]


async def test_when_a_producer_last_wrote_outlives_a_failed_sync() -> None:
    disk = new_disk()
    log = open_log(disk)
    await send(log, batch_of(b"x", producer=(7, 0)), NOW_MS)
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
    with pytest.raises(StorageFailed):
        await append(log, b"lost")
    await append(log, b"kept")
    assert [producer.last_append_ms for _, producer in log.producers] == [NOW_MS]


async def test_epochs_of_what_is_gone_are_forgotten_but_the_one_that_covers_the_start() -> None:
    disk = new_disk()
    for epoch in (1, 2, 3):
        log = open_log(disk, epoch=epoch, settings=SMALL)
        for _ in range(3):
            await append(log, b"x")
        log.close()
    log = open_log(disk, epoch=4, settings=SMALL)
    assert list(log.epochs) == [(1, 0), (2, 3), (3, 6)]

    await delete(log, 5)
    await retire(log)

    assert list(log.epochs) == [(2, 3), (3, 6)]
    assert log.epochs.at(5) == 2
    log = open_log(disk.process_crash(), epoch=5, settings=SMALL)
    assert list(log.epochs) == [(2, 3), (3, 6)]


async def test_a_log_goes_on_when_its_next_segment_cannot_be_made() -> None:
    disk = new_disk()
    log = await filled(disk, 1)
    refuse = Fault(Effect.ENOSPC, times=None, ops=frozenset({Op.CREATE}), fits=_is_segment)
    disk.inject(refuse)
    with pytest.raises(OSError, match="space"):
        await retire(log, LATER_MS, passes=3)
    disk.clear_faults()
    assert offsets(log) == [0]
    await append(log, b"next")
    again = open_log(disk.power_cut(Survival.NOTHING), epoch=2, settings=SMALL)
    assert offsets(again) == [0, 1]


async def test_the_journal_brings_nothing_back_that_was_let_go() -> None:
    disk = journaled.new_disk()
    shared = journaled.Journaled(disk)
    await shared.lean(b"in the journal", b"alone")
    log = shared.logs[0]
    end, directory = log.high_watermark, journaled.directory_of(journaled.key_of(0))
    await delete(log, end)

    gone = await retire(log, passes=4)

    assert gone == [0]
    remove_files(disk, directory, gone)
    disk.sync_directory(directory)
    disk = disk.power_cut(Survival.NOTHING)
    assert journaled.journal_files(disk)
    again, other = journaled.reopened(disk).logs
    assert (again.log_start_offset, again.next_offset, offsets(again)) == (end, end, [])
    assert sorted(segment_names(disk.list(directory))) == [end]
    assert len(offsets(other)) == end


def _is_segment(path: str) -> bool:
    return path.endswith(".log")
