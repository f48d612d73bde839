"""The journal: one sync for many partitions, files made ahead, caught up with and removed."""

import asyncio

import pytest

from riverlog.log.checkpoint import CHECKPOINT_NAME, Checkpoint
from riverlog.log.commit import JOURNALED_BYTES_MAX
from riverlog.log.fresh import FRESH_BYTES_MAX
from riverlog.log.journal import ROUNDS_BEFORE_RETRY, SYNCED_AT_ONCE, JournalLimits
from riverlog.log.settings import LogSettings
from riverlog.stores.small_file import read_small_file
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk
from tests.log.journaled import (
    JOURNAL,
    LIMITS,
    ROOT,
    Journaled,
    PatientSyncer,
    journal_files,
    new_disk,
    settle,
)
from tests.log.logs import read_all

SYNC = frozenset({Op.SYNC})


def synced_since(disk: SimulatedDisk, calls: int) -> list[str]:
    """The files synced since the trace had so many calls, by their last names."""
    return [path.rpartition("/")[2] for op, path in disk.trace[calls:] if op is Op.SYNC]


def is_segment(path: str) -> bool:
    return path.endswith(".log")


def is_journal(path: str) -> bool:
    return path.startswith(JOURNAL)


# Which way a round goes.


async def test_small_batches_of_several_partitions_share_one_sync() -> None:
    disk = new_disk()
    several = Journaled(disk, 3)
    await several.lean()
    calls = len(disk.trace)
    await several.send(b"small")
    assert synced_since(disk, calls) == journal_files(disk)[:1]
    assert [log.high_watermark for log in several.logs] == [3, 3, 3]
    assert [len(read_all(log)) for log in several.logs] == [3, 3, 3]


async def test_a_lone_partition_syncs_its_own_file() -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.lean()
    calls = len(disk.trace)
    await several.send(b"alone", 0)
    assert synced_since(disk, calls) == [f"{0:020}.log"]


async def test_a_new_segment_is_synced_itself_the_first_time() -> None:
    disk = new_disk()
    several = Journaled(disk, settings=LogSettings(segment_records=3))
    await several.lean(b"last of its segment")
    calls = len(disk.trace)
    await several.send(b"first of the next")
    assert f"{3:020}.log" in synced_since(disk, calls)


async def test_large_batches_are_written_once() -> None:
    disk = new_disk()
    several = Journaled(disk, limits=LIMITS._replace(file_bytes=8 << 20))
    await several.lean()
    calls = len(disk.trace)
    await several.send(bytes(FRESH_BYTES_MAX))
    assert synced_since(disk, calls) == [f"{0:020}.log"] * 2
    await several.send(b"small")
    assert synced_since(disk, calls)[2:] == journal_files(disk)[:1]


async def test_a_round_puts_only_so_much_into_the_journal() -> None:
    disk = new_disk()
    count = JOURNALED_BYTES_MAX // 60_000 + 3
    several = Journaled(disk, count, limits=LIMITS._replace(file_bytes=8 << 20), open_max=99)
    await several.lean()
    calls = len(disk.trace)
    await several.send(bytes(60_000))
    assert synced_since(disk, calls)[0] in journal_files(disk)
    assert len(synced_since(disk, calls)) == 3


async def test_a_frame_that_fits_into_no_file_goes_to_the_segments() -> None:
    several = Journaled(new_disk())
    await several.lean()
    await several.send(bytes(LIMITS.file_bytes))
    assert [log.high_watermark for log in several.logs] == [3, 3]


# Files.


async def test_a_file_is_whole_and_durable_before_it_is_used() -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(b"a")
    (name,) = journal_files(disk)
    calls = [
        (op, path)
        for op, path in disk.trace
        if (is_journal(path) or path == ROOT) and op is not Op.LIST
    ]
    made = calls.index((Op.CREATE, f"{JOURNAL}/{name}"))
    assert [op for op, _ in calls[made:]] == [
        Op.CREATE,
        Op.WRITE,
        Op.SYNC,
        Op.SYNC_DIRECTORY,
        Op.SYNC_DIRECTORY,
        Op.WRITE,
        Op.SYNC,
    ]


async def test_a_full_file_is_followed_by_the_next_and_removed_once_the_segments_are_synced() -> (
    None
):
    disk = new_disk()
    several = Journaled(disk)
    await several.lean()
    first = journal_files(disk)
    for number in range(20):
        await several.send(b"%d" % number)
    assert first[0] not in journal_files(disk)
    assert len(journal_files(disk)) <= 2
    assert [log.high_watermark for log in several.logs] == [22, 22]


async def test_no_file_goes_while_a_partition_that_needs_it_is_being_synced() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = Journaled(disk, syncer=syncer)
    await _fill_first_file(several, syncer)
    assert len(syncer.apart) >= 1
    before = journal_files(disk)
    await syncer.finish_round()
    assert journal_files(disk) == before
    await syncer.finish_all()
    assert before[0] not in journal_files(disk)


async def test_without_a_free_file_partitions_sync_their_own() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = Journaled(disk, syncer=syncer, limits=LIMITS._replace(files_max=1))
    for number in range(30):
        several.write(b"%d" % number)
        await syncer.finish_round()
    assert len(journal_files(disk)) <= 1
    assert [log.high_watermark for log in several.logs] == [30, 30]
    await syncer.finish_all()
    several.write(b"more")
    await syncer.finish_all()
    several.write(b"and more")
    await syncer.finish_all()
    assert [log.high_watermark for log in several.logs] == [32, 32]


@pytest.mark.parametrize("op", [Op.MAKE_DIRECTORY, Op.CREATE, Op.WRITE, Op.SYNC, Op.SYNC_DIRECTORY])
async def test_a_file_that_cannot_be_made_leaves_nothing_and_is_tried_again_later(op: Op) -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.send(b"first")
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({op}), fits=is_journal))
    await several.send(b"second")
    await several.send(b"third")
    assert journal_files(disk) == []
    for _ in range(ROUNDS_BEFORE_RETRY + 2):
        await several.send(b"more")
    assert journal_files(disk)
    assert [log.high_watermark for log in several.logs] == [ROUNDS_BEFORE_RETRY + 5] * 2


@pytest.mark.parametrize("op", [Op.WRITE, Op.SYNC])
async def test_after_an_error_a_file_gets_no_more_frames_and_everyone_syncs_their_own(
    op: Op,
) -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(b"kept")
    (name,) = journal_files(disk)
    disk.inject(Fault(Effect.EIO, ops=frozenset({op}), fits=is_journal))
    await several.send(b"next")
    assert [log.high_watermark for log in several.logs] == [4, 4]
    calls = len(disk.trace)
    for _ in range(3):
        await several.send(b"more")
    touched = {path for call, path in disk.trace[calls:] if call in (Op.WRITE, Op.SYNC)}
    assert f"{JOURNAL}/{name}" not in touched
    assert name not in journal_files(disk)


# Who leans on it.


async def test_no_more_partitions_lean_on_it_than_files_may_be_open() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = Journaled(disk, 6, syncer=syncer, limits=LIMITS._replace(behind_max=2), open_max=1)
    for value in (b"opening", b"synced"):
        several.write(value)
        await syncer.finish_all()
    several.write(b"to all at once")
    await syncer.finish_round()
    assert len(several.journal._behind) == 2
    assert sum(log.high_watermark == 3 for log in several.logs) == 2
    await syncer.finish_all()
    assert [log.high_watermark for log in several.logs] == [3] * 6


async def test_the_file_of_a_partition_that_leans_on_it_stays_open() -> None:
    """A file closed before it was synced could hide that writing it failed."""
    disk = new_disk()
    several = Journaled(disk, 3, open_max=1)
    await several.lean(b"a")
    calls = len(disk.trace)
    await several.send(b"b")
    several.journal.give_up_file()
    opened = [path for op, path in disk.trace[calls:] if op is Op.OPEN and is_segment(path)]
    assert opened == []


async def test_catching_up_syncs_a_few_files_at_a_time() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    count = SYNCED_AT_ONCE + 3
    several = Journaled(
        disk, count, syncer=syncer, limits=JournalLimits(file_bytes=8_000), open_max=99
    )
    several.write(b"opening")
    await syncer.finish_all()
    several.write(b"synced")
    await syncer.finish_all()
    several.write(b"only in the journal")
    await syncer.finish_round()
    several.journal.give_up_file()
    calls = len(disk.trace)
    syncer.finish_apart()
    assert len(synced_since(disk, calls)) == SYNCED_AT_ONCE
    syncer.finish_apart()
    assert len(synced_since(disk, calls)) == count
    await syncer.finish_all()
    assert all(id(log._end) not in several.journal._behind for log in several.logs)


async def test_no_checkpoint_tells_of_what_only_the_journal_has() -> None:
    disk = new_disk()
    several = Journaled(disk, settings=LogSettings(checkpoint_bytes=1))
    await several.lean(b"a", b"b")
    checkpoint = Checkpoint.from_bytes(read_small_file(disk, f"{ROOT}/0/{CHECKPOINT_NAME}"))
    assert several.logs[0].high_watermark == 4
    assert checkpoint.next_offset == 2


# The end.


async def test_a_clean_end_leaves_no_file() -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(b"a", b"b")
    await several.close()
    assert journal_files(disk) == []
    assert disk.list(JOURNAL) == []


async def test_a_file_that_was_made_ahead_goes_too() -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(b"a", b"b", b"c", b"d", b"e")
    assert len(journal_files(disk)) == 2
    await several.close()
    assert journal_files(disk) == []


async def test_the_files_stay_when_a_partition_could_not_be_mended() -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(b"only here")
    disk.inject(Fault(Effect.EIO, times=None, fits=lambda path: path.startswith(f"{ROOT}/0")))
    several.journal.give_up_file()
    await several.close()
    assert journal_files(disk)


async def test_idle_waits_for_files_being_made_and_for_catching_up() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = Journaled(disk, syncer=syncer)
    await _fill_first_file(several, syncer)
    idle = asyncio.ensure_future(several.journal.idle())
    await settle()
    assert not idle.done()
    await syncer.finish_all()
    await asyncio.wait_for(idle, 1)


async def _fill_first_file(several: Journaled, syncer: PatientSyncer) -> None:
    """Writes until the first file is full; the round after it has begun, and the catching up."""
    for _ in range(3):
        several.write(b"first")
        await syncer.finish_all()
    number = several.journal.number
    while several.journal.number == number:
        assert not syncer.rounds
        while len(syncer.apart):
            syncer.finish_apart()
        several.write(b"more")
        await settle()
        if several.journal.number == number:
            await syncer.finish_round()
