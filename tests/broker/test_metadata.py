"""What a broker knows for good: decided in order, told when durable, right after failures."""

import asyncio
from random import Random

import pytest

from riverlog.broker.errors import UnknownTopic
from riverlog.broker.metadata import PRODUCER_ID_BLOCK, Metadata
from riverlog.cluster.metadata_log import MetadataLog
from riverlog.cluster.topics import TopicExists
from riverlog.log.errors import StorageFailed
from riverlog.stores.syncer import attempt
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from tests.log.held_syncer import HeldSyncer
from tests.log.logs import DIRECTORY, open_log

SYNC = frozenset({Op.SYNC})


def new_disk() -> SimulatedDisk:
    disk = SimulatedDisk(Random(0))
    disk.make_directory(DIRECTORY)
    disk.sync_directory("")
    return disk


def opened(disk: SimulatedDisk, syncer: HeldSyncer | None = None, seed: int = 0) -> Metadata:
    log = open_log(disk, epoch=0, epoch_max=0, syncer=syncer, report=lambda _: None)
    return Metadata(MetadataLog(log, ManualClock()), SeededChance(seed))


async def test_every_start_takes_an_epoch_of_its_own() -> None:
    disk = new_disk()
    epochs = []
    for _ in range(3):
        metadata = opened(disk)
        await metadata.start(0, -1)
        epochs.append(metadata.epoch)
        disk = disk.power_cut(Survival.NOTHING)
    assert epochs == [1, 2, 3]


async def test_the_cluster_is_named_once() -> None:
    disk = new_disk()
    metadata = opened(disk)
    await metadata.start(0, -1)
    name = metadata.cluster_id
    assert name
    again = opened(disk.power_cut(Survival.NOTHING), seed=1)
    await again.start(0, -1)
    assert again.cluster_id == name


async def test_an_epoch_seen_in_partitions_is_not_taken_again() -> None:
    metadata = opened(new_disk())
    await metadata.start(7, -1)
    assert metadata.epoch == 8


async def test_a_producer_id_seen_in_partitions_is_not_given_again() -> None:
    metadata = opened(new_disk())
    await metadata.start(0, 4_711)
    assert await metadata.new_producer_id() > 4_711


async def test_a_topic_is_told_of_when_it_is_durable() -> None:
    syncer = HeldSyncer()
    metadata = opened(new_disk(), syncer)
    creating = asyncio.ensure_future(metadata.create_topic("a", 1, {}))
    assert await syncer.begun()
    assert metadata.topics.by_name("a") is None
    await syncer.release()
    topic = await creating
    assert metadata.topics.by_name("a") == topic


async def test_of_two_who_make_a_topic_at_the_same_time_one_is_told_it_exists() -> None:
    syncer = HeldSyncer()
    metadata = opened(new_disk(), syncer)
    first = asyncio.ensure_future(metadata.create_topic("a", 1, {}))
    assert await syncer.begun()
    with pytest.raises(TopicExists):
        await metadata.create_topic("a", 2, {})
    await syncer.release()
    assert (await first).partition_count == 1


async def test_a_topic_whose_write_failed_can_be_made_again() -> None:
    disk = new_disk()
    metadata = opened(disk)
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    with pytest.raises(StorageFailed):
        await metadata.create_topic("a", 1, {})
    assert metadata.topics.by_name("a") is None
    await metadata.create_topic("a", 2, {})
    again = opened(disk.power_cut(Survival.NOTHING))
    assert [topic.partition_count for topic in again.topics] == [2]


async def test_what_was_decided_after_a_failure_still_stands_when_the_failure_is_told() -> None:
    disk, syncer = new_disk(), HeldSyncer()
    metadata = opened(disk, syncer)
    lost = asyncio.ensure_future(metadata.create_topic("lost", 1, {}))
    assert await syncer.begun()
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    jobs, done = syncer.rounds.pop()
    # This one is decided after the sync failed, and before those who wait have heard of it.
    kept = asyncio.ensure_future(metadata.create_topic("kept", 1, {}))
    done([attempt(job) for job in jobs])
    await asyncio.sleep(0)
    with pytest.raises(TopicExists):
        await asyncio.wait_for(metadata.create_topic("kept", 2, {}), 1)
    await syncer.release()
    await kept
    with pytest.raises(StorageFailed):
        await lost
    assert [topic.name for topic in metadata.topics] == ["kept"]


async def test_a_topic_ends_once() -> None:
    metadata = opened(new_disk())
    topic = await metadata.create_topic("a", 1, {})
    await metadata.delete_topic(topic.topic_id)
    assert metadata.topics.was_deleted(topic.topic_id)
    with pytest.raises(UnknownTopic):
        await metadata.delete_topic(topic.topic_id)


async def test_a_topic_whose_end_failed_is_still_there() -> None:
    disk = new_disk()
    metadata = opened(disk)
    topic = await metadata.create_topic("a", 1, {})
    disk.inject(Fault(Effect.EIO, ops=SYNC))
    with pytest.raises(StorageFailed):
        await metadata.delete_topic(topic.topic_id)
    assert metadata.topics.by_name("a") == topic
    await metadata.delete_topic(topic.topic_id)
    assert metadata.topics.by_name("a") is None


async def test_a_topic_made_again_has_another_id() -> None:
    metadata = opened(new_disk())
    first = await metadata.create_topic("a", 1, {})
    await metadata.delete_topic(first.topic_id)
    second = await metadata.create_topic("a", 1, {})
    assert first.topic_id != second.topic_id


async def test_producer_ids_come_in_durable_blocks_and_never_twice() -> None:
    disk = new_disk()
    given: list[int] = []
    for _ in range(3):
        metadata = opened(disk)
        given += [await metadata.new_producer_id() for _ in range(PRODUCER_ID_BLOCK + 1)]
        disk = disk.power_cut(Survival.NOTHING)
    assert len(set(given)) == len(given)


async def test_no_producer_id_is_given_before_its_block_is_durable() -> None:
    syncer = HeldSyncer()
    metadata = opened(new_disk(), syncer)
    asking = [asyncio.ensure_future(metadata.new_producer_id()) for _ in range(3)]
    assert await syncer.begun()
    assert not any(future.done() for future in asking)
    await syncer.release()
    assert len(set(await asyncio.gather(*asking))) == 3


async def test_a_fact_outlives_whoever_asked_for_it() -> None:
    syncer = HeldSyncer()
    metadata = opened(new_disk(), syncer)
    creating = asyncio.ensure_future(metadata.create_topic("a", 1, {}))
    assert await syncer.begun()
    creating.cancel()
    await syncer.release()
    await asyncio.sleep(0)
    assert metadata.topics.by_name("a") is not None


async def test_a_topic_whose_fact_was_lost_is_taken_back_unless_its_name_is_taken() -> None:
    metadata = opened(new_disk())
    topic = await metadata.create_topic("a", 1, {})
    await metadata.adopt_topic(topic._replace(topic_id=bytes(16)))
    assert metadata.topics.by_name("a") == topic
    await metadata.adopt_topic(topic._replace(name="b", topic_id=bytes(16)))
    assert metadata.topics.by_id(bytes(16)) is not None
