"""After a failed sync: what only the journal kept is saved, whatever else goes wrong meanwhile."""

import asyncio
from random import Random

import pytest

from riverlog.log.damage import Damage
from riverlog.log.errors import StorageFailed
from riverlog.log.partition import Partition
from riverlog.log.settings import LogSettings
from riverlog.records.batch import read_header
from riverlog.testing.simulated_disk import Effect, Fault, Op, PowerCut, SimulatedDisk, Survival
from riverlog.testing.virtual_loop import run
from tests.log.journaled import (
    JOURNAL,
    ROOT,
    Journaled,
    PatientSyncer,
    journal_files,
    new_disk,
    reopened,
    settle,
)
from tests.log.logs import batch_of, read_all, send, write

SYNC = frozenset({Op.SYNC})
FIRST = f"{ROOT}/0/{0:020}.log"
KEPT = [b"opening to 0", b"synced to 0", b"a to 0", b"b to 0"]


def values(log: Partition) -> list[bytes | None]:
    return [value for _, value in read_all(log)]


def is_first(path: str) -> bool:
    return path == FIRST


def fail_sync(disk: SimulatedDisk) -> None:
    """The next sync of the first partition's segment fails."""
    disk.inject(Fault(Effect.EIO, ops=SYNC, fits=is_first))


def after_end(disk: SimulatedDisk, survival: Survival | None) -> list[list[bytes | None]]:
    """What the next life serves after a power cut, or after a kill."""
    chance = disk.copy(Random(0))
    after = chance.process_crash() if survival is None else chance.power_cut(survival)

    async def look() -> list[list[bytes | None]]:
        several = reopened(after)
        return list(map(values, several.logs))

    return run(look())


async def test_what_only_the_journal_had_is_served_after_the_segment_failed() -> None:
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(b"a", b"b")
    fail_sync(disk)
    several.journal.give_up_file()
    log = several.logs[0]
    assert (values(log), log.high_watermark) == (KEPT, 4)
    assert (await send(log, batch_of(b"next"))).base_offset == 4
    assert journal_files(disk)[:1] != [f"{1:010}"]
    for survival in (*Survival, None):
        found = await asyncio.to_thread(after_end, disk, survival)
        assert found[0] == [*KEPT, b"next"]


@pytest.mark.parametrize("is_in_journal", [False, True])
async def test_a_lost_seal_doubles_nothing_that_was_saved(is_in_journal: bool) -> None:
    """Then the broken file is read to its end, and the saved one holds the same offsets."""
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(b"a", b"b")
    fail_sync(disk)
    if is_in_journal:
        removing = frozenset({Op.REMOVE})
        disk.inject(Fault(Effect.EIO, times=None, ops=removing, fits=_is_of_journal))
    several.journal.give_up_file()
    disk.clear_faults()
    assert bool(journal_files(disk)) == is_in_journal
    disk = disk.process_crash()
    disk.remove(FIRST.replace(".log", ".seal"))
    damages: list[Damage] = []
    log = reopened(disk, report=damages.append).logs[0]
    for bytes_max in (1, 150, 1 << 20):
        assert [value for _, value in read_all(log, bytes_max)] == KEPT


async def test_what_was_never_durable_is_given_up_and_its_offsets_stay_unused() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer)
    several.write(b"lost", 0)
    fail_sync(disk)
    several.journal.give_up_file()
    await syncer.finish_all()
    log = several.logs[0]
    assert (values(log), log.high_watermark, log.next_offset) == (KEPT, 4, 5)
    several.write(b"next", 0)
    await syncer.finish_all()
    assert [read.offset for read in read_all(log)] == [0, 1, 2, 3, 5]
    for survival in (*Survival, None):
        found = await asyncio.to_thread(after_end, disk, survival)
        assert found[0] == [*KEPT, b"next to 0"]


@pytest.mark.parametrize("survival", [*Survival, None])
def test_a_log_that_ends_with_unused_offsets_is_read_to_its_end(survival: Survival | None) -> None:
    disk = new_disk()

    async def mend_without_writing() -> None:
        several = Journaled(disk)
        await several.lean(b"a", b"b")
        fail_sync(disk)
        several.write(b"lost", 0)
        several.journal.give_up_file()

    run(mend_without_writing())
    after = disk.process_crash() if survival is None else disk.power_cut(survival)

    async def read_on() -> None:
        log = reopened(after).logs[0]
        assert values(log) == KEPT
        assert (log.high_watermark, log.next_offset) == (5, 5)
        gap = read_header(log.read(4, 1))
        assert (gap.base_offset, gap.next_offset, gap.record_count) == (4, 5, 0)
        assert (await send(log, batch_of(b"next"))).base_offset == 5
        assert [read.offset for read in read_all(log)] == [0, 1, 2, 3, 5]
        assert read_header(log.read(4, 1)).base_offset == 5

    run(read_on())


async def test_a_batch_that_was_saved_is_still_a_duplicate_and_a_lost_one_is_not() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer)
    log = several.logs[0]
    saved, lost = (batch_of(b"%d" % n, producer=(7, 0), sequence=n) for n in range(2))
    write(log, saved)
    several.write(b"other", 1)
    await syncer.finish_round()
    write(log, lost)
    fail_sync(disk)
    several.journal.give_up_file()
    await syncer.finish_all()
    assert write(log, saved).is_duplicate
    assert not write(log, lost).is_duplicate


async def test_a_mend_that_fails_anywhere_can_be_tried_again() -> None:
    for at in range(1, 60):
        disk = new_disk()
        several = Journaled(disk)
        await several.lean(b"a", b"b")
        fail_sync(disk)
        failing = Fault(Effect.EIO, at, ops=frozenset(Op) - SYNC, fits=_is_of_first_or_journal)
        disk.inject(failing)
        several.journal.give_up_file()
        disk.clear_faults()
        log = several.logs[0]
        await send(log, batch_of(b"next"))
        assert values(log) == [*KEPT, b"next"], at
        found = await asyncio.to_thread(after_end, disk, Survival.NOTHING)
        assert found[0] == [*KEPT, b"next"], at


@pytest.mark.parametrize("effect", [Effect.CRASH_BEFORE, Effect.CRASH_AFTER])
def test_a_crash_anywhere_in_a_mend_loses_nothing(effect: Effect) -> None:
    async def life(disk: SimulatedDisk, crash_at: int) -> bool:
        several = Journaled(disk)
        await several.lean(b"a", b"b")
        fail_sync(disk)
        disk.inject(Fault(effect, crash_at))
        try:
            several.journal.give_up_file()
        except PowerCut:
            return False
        return True

    # The first call is the sync that fails.
    crash_at, has_survived = 2, False
    while not has_survived:
        disk = new_disk(crash_at)
        has_survived = run(life(disk, crash_at))
        for survival in (*Survival, None):
            assert after_end(disk, survival)[0] == KEPT, (crash_at, survival)
        crash_at += 1
    assert crash_at > 20


async def test_every_step_of_a_mend_may_be_the_one_that_fails_before_a_kill() -> None:
    """A second try begins where the first one ended, and death may come at any of its calls."""
    for fail_at in range(1, 45):
        for crash_at in range(1, 14):
            await asyncio.to_thread(_fail_then_die, fail_at, crash_at)


def _fail_then_die(fail_at: int, crash_at: int) -> None:
    async def life(disk: SimulatedDisk) -> None:
        several = Journaled(disk)
        await several.lean(b"a", b"b")
        fail_sync(disk)
        disk.inject(Fault(Effect.EIO, fail_at, ops=frozenset(Op) - SYNC, fits=_is_of_first))
        several.journal.give_up_file()
        disk.clear_faults()
        disk.inject(Fault(Effect.CRASH_AFTER, crash_at))
        try:
            several.logs[0]._end.mend()
        except PowerCut:
            return

    disk = new_disk(fail_at)
    run(life(disk))
    for survival in (None, Survival.EVERYTHING):
        assert after_end(disk, survival)[0][:4] == KEPT, (fail_at, crash_at, survival)


async def test_a_broken_partition_that_nobody_writes_to_does_not_hold_the_journal_for_ever() -> (
    None
):
    disk = new_disk()
    several = Journaled(disk, 3)
    await several.lean(b"a", b"b")
    fail_sync(disk)
    with pytest.raises(StorageFailed):
        await send(several.logs[0], batch_of(b"lost"))
    first = journal_files(disk)[0]
    for number in range(40):
        await several.send(b"%d" % number, 1, 2)
    assert first not in journal_files(disk)
    assert values(several.logs[0]) == KEPT


async def test_a_journal_file_that_is_gone_and_was_not_needed_does_not_stop_a_mend() -> None:
    """As when its removal went well and the sync of the directory did not."""
    disk = new_disk()
    several = Journaled(disk)
    await several.lean(*(b"%d" % number for number in range(5)))
    gone, _made_ahead = journal_files(disk)
    failing = Fault(Effect.EIO, times=None, ops=frozenset({Op.SYNC_DIRECTORY}), fits=JOURNAL.__eq__)
    disk.inject(failing)
    several.journal.give_up_file()
    assert gone not in journal_files(disk)
    await several.send(b"a")
    await several.send(b"b")
    fail_sync(disk)
    with pytest.raises(StorageFailed):
        await send(several.logs[0], batch_of(b"lost"))
    await send(several.logs[0], batch_of(b"next"))
    assert values(several.logs[0])[-3:] == [b"a to 0", b"b to 0", b"next"]


async def test_a_frame_under_way_while_its_partition_is_mended_changes_nothing() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer)
    several.write(b"under way")
    await settle()
    assert len(syncer.rounds) == 1
    fail_sync(disk)
    # Catching up fails for the first partition, while the frame is being synced.
    several.journal._catch_up()
    while syncer.apart:
        syncer.finish_apart()
    assert several.logs[0]._end.failure is None
    several.write(b"next", 0)
    await syncer.finish_round()
    await syncer.finish_all()
    assert values(several.logs[0]) == [*KEPT, b"next to 0"]
    assert values(several.logs[1])[-1] == b"under way to 1"
    for survival in (*Survival, None):
        found = await asyncio.to_thread(after_end, disk, survival)
        assert found[0] == [*KEPT, b"next to 0"], survival


async def test_a_segment_rolled_while_its_frame_is_under_way_is_whole() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer, LogSettings(segment_records=5))
    several.write(b"under way")
    await settle()
    several.write(b"next", 0)
    log = several.logs[0]
    assert len(log._segments) == 2
    assert log.high_watermark == 5
    await syncer.finish_round()
    await syncer.finish_all()
    assert values(log) == [*KEPT, b"under way to 0", b"next to 0"]
    for survival in (*Survival, None):
        found = await asyncio.to_thread(after_end, disk, survival)
        assert found[0] == [*KEPT, b"under way to 0", b"next to 0"]


async def test_catching_up_beside_a_round_of_the_same_partition_syncs_one_after_the_other() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer)
    several.journal._catch_up()
    assert len(syncer.apart) == 1
    several.write(b"alone", 0)
    durable = several.logs[0].durable(5)
    await syncer.finish_round()
    assert durable is not None
    assert not durable.done(), "the file is being synced for the journal"
    await syncer.finish_all()
    await durable
    assert several.journal._behind == {}


async def test_a_journal_frame_after_catching_up_began_is_still_needed() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer)
    several.journal._catch_up()
    several.write(b"later")
    await syncer.finish_round()
    assert several.logs[0].high_watermark == 5
    while syncer.apart:
        syncer.finish_apart()
    assert len(several.journal._behind) == 2
    found = await asyncio.to_thread(after_end, disk, Survival.NOTHING)
    assert found[0] == [*KEPT, b"later to 0"]


async def test_a_topic_that_goes_while_its_frame_is_under_way_needs_nothing_and_says_nothing() -> (
    None
):
    troubles: list[str] = []
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer, trouble=lambda path, _: troubles.append(path))
    several.write(b"under way")
    await settle()
    several.logs[0].abandon()
    for name in disk.list(f"{ROOT}/0"):
        disk.remove(f"{ROOT}/0/{name}")
    await syncer.finish_round()
    await syncer.finish_all()
    assert troubles == []
    assert id(several.logs[0]._end) not in several.journal._behind
    assert disk.list(f"{ROOT}/0") == []


async def test_a_topic_that_goes_while_it_is_caught_up_with_needs_nothing_and_says_nothing() -> (
    None
):
    troubles: list[str] = []
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer, trouble=lambda path, _: troubles.append(path))
    several.journal._catch_up()
    several.write(b"more", 0)
    await settle()
    several.logs[0].abandon()
    for name in disk.list(f"{ROOT}/0"):
        disk.remove(f"{ROOT}/0/{name}")
    disk.remove_directory(f"{ROOT}/0")
    fail_sync(disk)
    await syncer.finish_round()
    await syncer.finish_all()
    assert troubles == []
    assert not disk.exists(f"{ROOT}/0")
    several.logs[1].abandon()
    several.journal.close()
    assert journal_files(disk) == []


async def test_a_topic_that_goes_is_not_mended_any_more() -> None:
    disk, syncer = new_disk(), PatientSyncer()
    several = await _leaning(disk, syncer)
    several.write(b"lost", 0)
    fail_sync(disk)
    await syncer.finish_round()
    several.journal._catch_up()
    several.logs[0].abandon()
    before = disk.list(f"{ROOT}/0")
    await syncer.finish_all()
    assert disk.list(f"{ROOT}/0") == before


async def _leaning(
    disk: SimulatedDisk,
    syncer: PatientSyncer,
    settings: LogSettings | None = None,
    **options: object,
) -> Journaled:
    """Two partitions with `KEPT` in them; the last two batches only the journal has."""
    several = Journaled(disk, syncer=syncer, settings=settings, **options)  # type: ignore[arg-type]  # passed on
    for value in (b"opening", b"synced", b"a", b"b"):
        several.write(value)
        await syncer.finish_all()
    assert len(several.journal._behind) == 2
    return several


def _is_of_first(path: str) -> bool:
    return path.startswith(f"{ROOT}/0")


def _is_of_journal(path: str) -> bool:
    return path.startswith(JOURNAL)


def _is_of_first_or_journal(path: str) -> bool:
    return _is_of_first(path) or _is_of_journal(path)
