"""A broker: topics and their files, what it refuses, and what a start finds."""

import asyncio

import pytest

from riverlog.broker.errors import (
    InvalidConfig,
    InvalidTimestamp,
    InvalidTransaction,
    RecordsTooLarge,
    UnknownTopic,
    UnknownTopicId,
)
from riverlog.broker.topic_files import TOPIC_FILE
from riverlog.cluster.topics import TopicExists
from riverlog.log.damage import Damage
from riverlog.log.errors import LogClosed
from riverlog.records.builder import build_batch
from riverlog.records.errors import BatchError
from riverlog.records.record import Record
from riverlog.stores.syncer import AdaptiveSyncer
from riverlog.testing.manual_clock import START_MS
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from tests.broker.brokers import ROOT, new_disk, open_broker
from tests.log.held_syncer import HeldSyncer
from tests.log.logs import batch_of, read_all


def topic_names(disk: SimulatedDisk) -> list[str]:
    return disk.list(f"{ROOT}/topics") if disk.exists(f"{ROOT}/topics") else []


async def test_a_topic_outlives_a_power_cut_once_it_is_answered() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    topic = await broker.create_topic("a", 3, {"retention.ms": "1000"})
    after = await open_broker(disk.power_cut(Survival.NOTHING), seed=1)
    assert after.topic("a") == topic
    assert after.topic_by_id(topic.topic_id) == topic


async def test_epochs_rise_with_every_start_and_stand_in_every_batch() -> None:
    disk = new_disk()
    for epoch in (1, 2, 3):
        broker = await open_broker(disk, seed=epoch)
        assert broker.leader_epoch == epoch
        topic = broker.topics.by_name("a") or await broker.create_topic("a", 1, {})
        log = broker.partition(topic, 0)
        durable = log.durable(broker.append(log, batch_of(b"x")).end_offset)
        assert durable is not None
        await durable
        disk = disk.power_cut(Survival.NOTHING)
    assert list(log.epochs) == [(1, 0), (2, 1), (3, 2)]


async def test_a_topic_and_a_partition_must_be_there() -> None:
    broker = await open_broker(new_disk())
    topic = await broker.create_topic("a", 2, {})
    with pytest.raises(UnknownTopic):
        broker.topic("b")
    with pytest.raises(UnknownTopicId):
        broker.topic_by_id(bytes(16))
    for index in (-1, 2):
        with pytest.raises(UnknownTopic):
            broker.partition(topic, index)
    assert broker.partition(topic, 1) is broker.partition(topic, 1)


async def test_a_topic_with_settings_nobody_knows_is_not_made() -> None:
    broker = await open_broker(new_disk())
    with pytest.raises(InvalidConfig):
        await broker.create_topic("a", 1, {"colour": "red"})
    with pytest.raises(InvalidConfig):
        await broker.create_topic("a", 1, {"segment.bytes": "many"})
    assert len(broker.topics) == 0


async def test_checking_a_topic_makes_none() -> None:
    broker = await open_broker(new_disk())
    broker.check_topic("a", 1, {})
    await broker.create_topic("a", 1, {})
    with pytest.raises(TopicExists):
        broker.check_topic("a", 1, {})


async def test_of_many_who_need_a_topic_at_once_all_get_the_same() -> None:
    syncer = HeldSyncer()
    opening = asyncio.ensure_future(open_broker(new_disk(), syncer=syncer))
    await syncer.release()
    broker = await opening
    asking = [asyncio.ensure_future(broker.ensure_topic("a")) for _ in range(5)]
    await syncer.release()
    assert len({topic.topic_id for topic in await asyncio.gather(*asking)}) == 1


async def test_a_deleted_topic_tells_those_who_wait_and_leaves_no_files() -> None:
    disk, syncer = new_disk(), HeldSyncer()
    opening = asyncio.ensure_future(open_broker(disk, syncer=syncer))
    await syncer.release()
    broker = await opening
    creating = asyncio.ensure_future(broker.create_topic("a", 1, {}))
    await syncer.release()
    topic = await creating
    log = broker.partition(topic, 0)
    deleting = asyncio.ensure_future(broker.delete_topic(topic.topic_id))
    assert await syncer.begun()
    durable = log.durable(broker.append(log, batch_of(b"x")).end_offset)
    await syncer.release()
    await deleting
    assert durable is not None
    with pytest.raises(LogClosed):
        await durable
    with pytest.raises(LogClosed):
        broker.append(log, batch_of(b"y"))
    with pytest.raises(UnknownTopic):
        broker.topic("a")
    assert topic_names(disk) == []


async def test_a_topic_is_gone_even_if_its_files_cannot_be_removed_now() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    topic = await broker.create_topic("a", 1, {})
    disk.inject(Fault(Effect.EIO, times=None, ops=frozenset({Op.REMOVE})))
    await broker.delete_topic(topic.topic_id)
    assert topic_names(disk) == [topic.topic_id.hex()]
    after = disk.power_cut(Survival.NOTHING)
    broker = await open_broker(after, seed=1)
    assert len(broker.topics) == 0
    assert topic_names(after) == []


async def test_a_topic_made_again_begins_empty() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    for value in (b"old", b"new"):
        topic = await broker.create_topic("a", 1, {})
        log = broker.partition(topic, 0)
        durable = log.durable(broker.append(log, batch_of(value)).end_offset)
        assert durable is not None
        await durable
        assert read_all(log) == [(0, value)]
        if value == b"old":
            await broker.delete_topic(topic.topic_id)


async def test_a_copy_of_a_topic_that_is_missing_or_damaged_is_made_again() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    topic = await broker.create_topic("a", 1, {})
    path = f"{ROOT}/topics/{topic.topic_id.hex()}/{TOPIC_FILE}"
    disk.remove(path)
    broker = await open_broker(disk.process_crash(), seed=1)
    disk = disk.process_crash()
    assert disk.exists(path)
    with_damage = disk.open(path)
    with_damage.write(3, b"?")
    damages: list[Damage] = []
    await open_broker(disk, seed=2, damages=damages)
    assert [damage.path for damage in damages] == [path]
    damages.clear()
    await open_broker(disk.process_crash(), seed=3, damages=damages)
    assert damages == []


async def test_directories_that_are_no_topics_are_left_alone() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    await broker.create_topic("a", 1, {})
    disk.make_directory(f"{ROOT}/topics/lost+found")
    disk.make_directory(f"{ROOT}/topics/{'0' * 32}")
    after = disk.process_crash()
    broker = await open_broker(after, seed=1)
    assert [topic.name for topic in broker.topics] == ["a"]
    assert after.exists(f"{ROOT}/topics/lost+found")
    assert after.exists(f"{ROOT}/topics/{'0' * 32}")


async def test_what_a_producer_may_not_send_is_refused_and_changes_nothing() -> None:
    broker = await open_broker(new_disk())
    topic = await broker.create_topic(
        "a", 1, {"max.message.bytes": "200", "message.timestamp.before.max.ms": "1000"}
    )
    log = broker.partition(topic, 0)

    def at(time_ms: int, *, is_transactional: bool = False) -> bytes:
        records = [Record(0, time_ms, None, b"x")]
        return build_batch(records, is_transactional=is_transactional)

    with pytest.raises(RecordsTooLarge):
        broker.append(log, batch_of(b"x" * 300))
    with pytest.raises(InvalidTimestamp):
        broker.append(log, at(START_MS - 1_001))
    with pytest.raises(InvalidTimestamp):
        broker.append(log, at(START_MS + 3_600_001))
    with pytest.raises(InvalidTransaction):
        broker.append(log, at(START_MS, is_transactional=True))
    with pytest.raises(BatchError):
        broker.append(log, b"not a batch")
    assert log.next_offset == 0
    broker.append(log, at(START_MS - 1_000))
    broker.append(log, at(START_MS + 3_600_000))


async def test_a_broker_closes_with_threads_and_checkpoints_under_way() -> None:
    disk = new_disk()
    broker = await open_broker(disk, syncer=AdaptiveSyncer())
    for number in range(5):
        topic = await broker.create_topic(f"topic-{number}", 1, {})
        log = broker.partition(topic, 0)
        broker.append(log, batch_of(b"x"))
    await broker.close()
    after = disk.power_cut(Survival.NOTHING)
    broker = await open_broker(after, seed=1)
    for topic in broker.topics:
        assert len(read_all(broker.partition(topic, 0))) == 1
