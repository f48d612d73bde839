"""Changing topics: durable before it is answered, in effect at once, the copy kept in step."""

import asyncio
import json

import pytest

from riverlog.broker.broker import Broker
from riverlog.broker.config_changes import ConfigChange
from riverlog.broker.errors import InternalTopic, InvalidConfig, RecordsTooLarge, UnknownTopic
from riverlog.broker.internal_topics import OFFSETS_TOPIC
from riverlog.broker.topic_files import TOPIC_FILE
from riverlog.cluster.topics import InvalidPartitionCount, NoSuchTopic, TopicCreated
from riverlog.log.damage import Damage
from riverlog.log.errors import StorageFailed
from riverlog.stores.small_file import read_small_file
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from tests.broker.brokers import ROOT, new_disk, open_broker
from tests.log.held_syncer import HeldSyncer
from tests.log.logs import batch_of, read_all

REFUSED = Fault(Effect.EIO, times=None, ops=frozenset({Op.RENAME}))


def copy_of(disk: SimulatedDisk, topic: TopicCreated) -> dict[str, object]:
    path = f"{ROOT}/topics/{topic.topic_id.hex()}/{TOPIC_FILE}"
    content: dict[str, object] = json.loads(read_small_file(disk, path))
    return content


async def with_held_syncer(disk: SimulatedDisk) -> tuple[Broker, HeldSyncer]:
    syncer = HeldSyncer()
    opening = asyncio.ensure_future(open_broker(disk, syncer=syncer))
    await syncer.release()
    broker = await opening
    creating = asyncio.ensure_future(broker.create_topic("a", 1, {}))
    await syncer.release()
    await creating
    return broker, syncer


async def test_changes_outlive_a_power_cut_once_they_are_answered() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    await broker.create_topic("a", 1, {"retention.ms": "1"})
    await broker.changes.set_configs("a", {"retention.ms": "2", "segment.ms": "3"})
    await broker.changes.change_configs("a", [ConfigChange("segment.ms", "DELETE")])
    await broker.changes.add_partitions("a", 3)
    after = await open_broker(disk.power_cut(Survival.NOTHING), seed=1)
    assert after.topic("a") == broker.topic("a")
    assert after.topic("a")[2:] == (3, {"retention.ms": "2"})


async def test_changes_outlive_several_restarts_and_each_other() -> None:
    disk = new_disk()
    for count in (2, 3, 4):
        broker = await open_broker(disk, seed=count)
        if count == 2:
            await broker.create_topic("a", 1, {})
        await broker.changes.add_partitions("a", count)
        await broker.changes.change_configs("a", [ConfigChange("segment.ms", "SET", str(count))])
        await broker.close()
        disk = disk.process_crash()
    broker = await open_broker(disk, seed=9)
    assert broker.topic("a")[2:] == (4, {"segment.ms": "4"})


async def test_open_partitions_have_new_settings_at_once() -> None:
    broker = await open_broker(new_disk())
    topic = await broker.create_topic("a", 2, {})
    logs = [broker.partition(topic, index) for index in range(2)]
    await broker.changes.set_configs("a", {"max.message.bytes": "100"})
    for log in logs:
        with pytest.raises(RecordsTooLarge):
            broker.append(log, batch_of(b"x" * 100))
    await broker.changes.set_configs("a", {})
    for log in logs:
        broker.append(log, batch_of(b"x" * 100))


async def test_new_partitions_take_records_at_once_and_the_old_keep_theirs() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    topic = await broker.create_topic("a", 1, {})
    log = broker.partition(topic, 0)
    broker.append(log, batch_of(b"old"))
    with pytest.raises(UnknownTopic):
        broker.partition(topic, 1)
    await broker.changes.add_partitions("a", 2)
    assert broker.partition(broker.topic("a"), 0) is log
    new = broker.partition(broker.topic("a"), 1)
    durable = new.durable(broker.append(new, batch_of(b"new")).end_offset)
    assert durable is not None
    await durable
    after = await open_broker(disk.power_cut(Survival.NOTHING), seed=1)
    found = [read_all(after.partition(after.topic("a"), index)) for index in range(2)]
    assert found == [[(0, b"old")], [(0, b"new")]]


async def test_nothing_is_told_or_in_effect_before_it_is_durable() -> None:
    broker, syncer = await with_held_syncer(new_disk())
    log = broker.partition(broker.topic("a"), 0)
    asked = asyncio.ensure_future(broker.changes.set_configs("a", {"max.message.bytes": "9"}))
    assert await syncer.begun()
    assert not asked.done()
    assert broker.topic("a").configs == {}
    assert log.settings.message_bytes_max > 9
    await syncer.release()
    await asked
    assert log.settings.message_bytes_max == 9


async def test_a_change_takes_effect_although_whoever_asked_has_gone() -> None:
    broker, syncer = await with_held_syncer(new_disk())
    log = broker.partition(broker.topic("a"), 0)
    asked = asyncio.ensure_future(broker.changes.set_configs("a", {"max.message.bytes": "9"}))
    assert await syncer.begun()
    asked.cancel()
    await syncer.release()
    await asyncio.sleep(0)
    assert log.settings.message_bytes_max == 9


async def test_changes_at_the_same_time_add_up() -> None:
    broker, syncer = await with_held_syncer(new_disk())
    changing = [
        asyncio.ensure_future(broker.changes.change_configs("a", [ConfigChange(name, "SET", "7")]))
        for name in ("segment.ms", "retention.ms", "flush.ms")
    ]
    await syncer.release()
    await asyncio.gather(*changing)
    assert broker.topic("a").configs == {"segment.ms": "7", "retention.ms": "7", "flush.ms": "7"}


async def test_a_disk_that_fails_leaves_everything_as_it_was() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    await broker.create_topic("a", 1, {})
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC})))
    with pytest.raises(StorageFailed):
        await broker.changes.set_configs("a", {"segment.ms": "7"})
    assert broker.topic("a").configs == {}
    await broker.changes.add_partitions("a", 2)
    assert broker.topic("a")[2:] == (2, {})


async def test_saying_the_same_again_writes_nothing() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    await broker.create_topic("a", 1, {"segment.ms": "7"})
    disk.inject(Fault(Effect.EIO, times=None, ops=frozenset({Op.WRITE, Op.SYNC})))
    await broker.changes.set_configs("a", {"segment.ms": "7"})


async def test_what_may_not_be_is_refused_and_checking_changes_nothing() -> None:
    broker = await open_broker(new_disk())
    await broker.create_topic("a", 2, {"segment.ms": "7"})
    await broker.create_topic(OFFSETS_TOPIC, 2, {})
    before = broker.topic("a")
    for only_check in (True, False):
        with pytest.raises(InvalidConfig):
            await broker.changes.set_configs("a", {"segment.ms": "x"}, only_check=only_check)
        change = ConfigChange("max.compaction.lag.ms", "SET", "0")
        with pytest.raises(InvalidConfig):
            await broker.changes.change_configs("a", [change], only_check=only_check)
        with pytest.raises(NoSuchTopic):
            await broker.changes.set_configs("b", {}, only_check=only_check)
        for count in (2, 1, 0, -1, 100_001):
            with pytest.raises(InvalidPartitionCount):
                await broker.changes.add_partitions("a", count, only_check=only_check)
        with pytest.raises(NoSuchTopic):
            await broker.changes.add_partitions("b", 3, only_check=only_check)
        with pytest.raises(InternalTopic):
            await broker.changes.add_partitions(OFFSETS_TOPIC, 3, only_check=only_check)
    await broker.changes.set_configs("a", {}, only_check=True)
    await broker.changes.add_partitions("a", 5, only_check=True)
    assert broker.topic("a") == before


async def test_the_copy_beside_the_topic_follows() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    topic = await broker.create_topic("a", 1, {})
    await broker.changes.set_configs("a", {"segment.ms": "7"})
    await broker.changes.add_partitions("a", 2)
    assert copy_of(disk, topic) == {"name": "a", "partitions": 2, "configs": {"segment.ms": "7"}}


async def test_a_crash_between_the_fact_and_its_copy_costs_nothing() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    topic = await broker.create_topic("a", 1, {})
    disk.inject(REFUSED)
    await broker.changes.set_configs("a", {"segment.ms": "7"})
    await broker.changes.add_partitions("a", 2)
    assert copy_of(disk, topic)["partitions"] == 1
    after = disk.power_cut(Survival.NOTHING)
    damages: list[Damage] = []
    broker = await open_broker(after, seed=1, damages=damages)
    assert broker.topic("a")[2:] == (2, {"segment.ms": "7"})
    assert copy_of(after, topic) == {"name": "a", "partitions": 2, "configs": {"segment.ms": "7"}}
    assert damages == []


async def test_the_changes_of_a_topic_whose_beginning_was_lost_come_from_its_copy() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    topic = await broker.create_topic("a", 1, {})
    await broker.changes.set_configs("a", {"segment.ms": "7"})
    await broker.changes.add_partitions("a", 3)
    await broker.close()
    for name in disk.list(f"{ROOT}/metadata"):
        disk.remove(f"{ROOT}/metadata/{name}")
    after = await open_broker(disk, seed=1)
    assert after.topic("a") == topic._replace(partition_count=3, configs={"segment.ms": "7"})


async def test_a_topic_from_before_values_were_checked_is_opened_and_can_be_mended() -> None:
    disk = new_disk()
    broker = await open_broker(disk)
    stored = {"retention.ms": "a while", "segment.bytes": "lots"}
    await broker._metadata.create_topic("a", 1, stored)
    after = await open_broker(disk.process_crash(), seed=1)
    log = after.partition(after.topic("a"), 0)
    after.append(log, batch_of(b"x"))
    with pytest.raises(InvalidConfig):
        await after.changes.change_configs("a", [ConfigChange("segment.ms", "SET", "7")])
    await after.changes.change_configs(
        "a", [ConfigChange("retention.ms", "DELETE"), ConfigChange("segment.bytes", "SET", "5000")]
    )
    assert log.settings.segment_bytes == 5000
