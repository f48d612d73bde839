"""A broker with a journal is told to stop: all work has ended before anything is closed."""

import asyncio
from contextlib import suppress

import pytest

from riverlog.broker import broker as brokers
from riverlog.broker.broker import Broker, World
from riverlog.log.damage import Damage
from riverlog.log.errors import StorageFailed
from riverlog.log.partition import Partition
from riverlog.stores.disk import Disk
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import Effect, Fault, Op
from riverlog.testing.virtual_loop import LoopClock
from tests.crash.story import SMALL_JOURNAL
from tests.log.journaled import ROOT, PatientSyncer, journal_files, new_disk, settle, unexpected
from tests.log.logs import batch_of, read_all, write


@pytest.fixture(autouse=True)
def _small_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "JOURNAL_LIMITS", SMALL_JOURNAL._replace(behind_max=2))


async def leaning(disk: Disk, syncer: PatientSyncer) -> tuple[Broker, list[Partition]]:
    """A broker with two partitions that are synced; whatever comes now goes to the journal."""
    world = World(disk, syncer, LoopClock(), SeededChance("stop"), unexpected)
    broker = await Broker.open(world, ROOT)
    topic = await broker.create_topic("orders", 2, {})
    logs = [broker.partition(topic, index) for index in range(2)]
    for value in (b"opening", b"synced"):
        for log in logs:
            write(log, batch_of(value))
        await settle()
    return broker, logs


async def test_a_stop_waits_for_the_rounds_that_catching_up_asked_for() -> None:
    disk, syncer = new_disk(), PatientSyncer(is_patient=False)
    broker, logs = await leaning(disk, syncer)
    syncer.is_patient = True
    for log in logs:
        write(log, batch_of(b"both"))
    await syncer.finish_round()
    assert len(syncer.apart) == 1, "catching up has begun"
    for log in logs:
        write(log, batch_of(b"one by one"))
        await syncer.finish_round()

    closing = asyncio.ensure_future(broker.close())
    await settle()
    while not closing.done():
        if syncer.apart:
            syncer.finish_apart()
        if syncer.rounds:
            await syncer.finish_round()
        await settle()

    await closing
    assert journal_files(disk) == []


async def test_a_stop_takes_away_files_that_were_still_being_made() -> None:
    disk, syncer = new_disk(), PatientSyncer(is_patient=False)
    broker, logs = await leaning(disk, syncer)
    syncer.is_patient = True
    while not syncer.apart:
        for log in logs:
            write(log, batch_of(b"more"))
        await syncer.finish_round()

    closing = asyncio.ensure_future(broker.close())
    while not closing.done():
        await settle()
        while syncer.apart:
            syncer.finish_apart()
        if syncer.rounds:
            await syncer.finish_round()

    await closing
    assert journal_files(disk) == []


@pytest.mark.parametrize("index", [0, 1])
async def test_a_broken_partition_finds_all_it_had_promised_at_the_next_start(index: int) -> None:
    disk, syncer = new_disk(), PatientSyncer(is_patient=False)
    broker, logs = await leaning(disk, syncer)
    for log in logs:
        write(log, batch_of(b"only in the journal"))
    # The sync that would save the segments fails, and so does everything that would mend it.
    ops = frozenset(Op) - {Op.OPEN}
    disk.inject(Fault(Effect.EIO, times=None, ops=ops, fits=lambda path: f"/{index}/" in path))
    for log in logs:
        with suppress(StorageFailed):
            write(log, batch_of(b"refused, perhaps"))
    await settle()
    await broker.close()
    assert journal_files(disk)

    disk = disk.process_crash()
    torn: list[Damage] = []
    syncer = PatientSyncer(is_patient=False)
    world = World(disk, syncer, LoopClock(), SeededChance("next"), torn.append)
    broker = await Broker.open(world, ROOT)
    topic = broker.topic("orders")
    for log in (broker.partition(topic, 0), broker.partition(topic, 1)):
        found = [value for _, value in read_all(log)]
        assert found[:3] == [b"opening", b"synced", b"only in the journal"]
