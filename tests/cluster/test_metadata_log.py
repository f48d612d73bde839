"""The metadata log: facts in order, all or none, durable when they say so."""

import asyncio
from random import Random

import pytest

from riverlog.cluster.facts import BrokerStarted, Fact, ProducerIdsTaken
from riverlog.cluster.metadata_log import MetadataLog
from riverlog.cluster.topics import TopicCreated
from riverlog.log.errors import StorageFailed
from riverlog.log.partition import Partition
from riverlog.log.settings import LogSettings
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from tests.log.logs import DIRECTORY, open_log


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk(Random(0))
    disk.make_directory(DIRECTORY)
    disk.sync_directory("")
    return disk


def opened(disk: SimulatedDisk, epoch: int = 1, settings: LogSettings | None = None) -> MetadataLog:
    return MetadataLog(open_log(disk, epoch=epoch, settings=settings), ManualClock())


async def record(log: MetadataLog, *facts: Fact) -> None:
    """Returns when the facts are durable."""
    durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def told(error: Exception | None) -> None:
        if error is None:
            durable.set_result(None)
        else:
            durable.set_exception(error)

    log.append(told, *facts)
    await durable


async def test_facts_come_back_in_order() -> None:
    disk = new_disk()
    log = opened(disk, settings=LogSettings(segment_records=3))
    facts: list[Fact] = [BrokerStarted(1), TopicCreated(bytes(16), "a", 3, {"x": "y"})]
    await record(log, *facts)
    for end in range(8):
        await record(log, ProducerIdsTaken(end))
        facts.append(ProducerIdsTaken(end))
    after = disk.power_cut(Survival.NOTHING)
    assert list(opened(after, 2).replay()) == facts


async def test_facts_written_together_are_kept_together() -> None:
    disk = new_disk()
    opened(disk).append(lambda _: None, BrokerStarted(1), ProducerIdsTaken(5))
    for seed in range(40):
        after = disk.copy(Random(seed)).power_cut(Survival.TORN)
        found = list(MetadataLog(_forgiving(after), ManualClock()).replay())
        assert found in ([], [BrokerStarted(1), ProducerIdsTaken(5)])


def _forgiving(disk: SimulatedDisk) -> Partition:
    return open_log(disk, epoch=2, report=lambda _: None)


async def test_a_fact_the_disk_refused_is_an_error_at_once() -> None:
    disk = new_disk()
    log = opened(disk)
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({Op.WRITE})))
    with pytest.raises(StorageFailed):
        log.append(lambda _: None, BrokerStarted(1))


async def test_a_fact_whose_sync_failed_is_an_error_and_not_true() -> None:
    disk = new_disk()
    log = opened(disk)
    await record(log, BrokerStarted(1))
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
    with pytest.raises(StorageFailed):
        await record(log, BrokerStarted(2))
    await record(log, BrokerStarted(3))
    assert list(log.replay()) == [BrokerStarted(1), BrokerStarted(3)]
