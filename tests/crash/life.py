"""One life of a broker on a simulated disk: from its start to an end at any call."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from riverlog.broker.broker import Broker, World
from riverlog.cluster.topics import TopicCreated
from riverlog.config import BrokerSettings
from riverlog.log.errors import StorageFailed
from riverlog.log.settings import LogSettings
from riverlog.stores.disk import Disk
from riverlog.stores.syncer import Syncer
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import PowerCut, SimulatedDisk
from riverlog.testing.simulated_syncer import SimulatedSyncer
from riverlog.testing.virtual_loop import LoopClock, run
from tests.crash.clients import Consuming, Producing, administer, read_all, tidy
from tests.crash.story import PARTITIONS, TOPIC, Story

ROOT = "data"
SETTINGS = LogSettings(segment_bytes=1_500, checkpoint_bytes=600, file_delete_delay_ms=1)
# The clock is put forward by days; that must not make a retry look new.
NO_EXPIRY = BrokerSettings(producer_expiration_ms=1 << 60)
TURNS = 10

# What a test may put in place of the real thing, to see that the suite notices.
MakeSyncer = Callable[[SeededChance], Syncer]

Result = TypeVar("Result")


def live(disk: SimulatedDisk, story: Story, make_syncer: MakeSyncer = SimulatedSyncer) -> bool:
    """Opens a broker, lets its clients work, perhaps closes it; False if it could not go on."""

    async def work() -> bool:
        try:
            broker = await open_broker(disk, story, make_syncer)
            await topic_of(broker)
        except (OSError, StorageFailed):
            return False
        await serve(broker, story)
        if story.chance.happens(0.5):
            with suppress(OSError):
                await broker.close()
        return True

    try:
        return run(watched(work(), story), seed=story.chance.below(1 << 30))
    except PowerCut:
        return False


def live_through(
    disk: SimulatedDisk,
    story: Story,
    heal: Callable[[], None],
    make_syncer: MakeSyncer = SimulatedSyncer,
) -> bool:
    """A life on a disk that fails until `heal` is called; everything works again before it ends.

    False if the broker did not even start.
    """

    async def work() -> bool:
        try:
            broker = await open_broker(disk, story, make_syncer)
            await topic_of(broker)
        except (OSError, StorageFailed):
            return False
        await serve(broker, story)
        heal()
        answered = [producer.answered_count for producer in story.producers]
        await serve(broker, story)
        await asyncio.sleep(1)
        for producer, before in zip(story.producers, answered, strict=True):
            assert not producer.has_given_up, f"{producer.name} gave up"
            assert not producer.unanswered, f"{producer.name} still waits"
            assert producer.answered_count > before, f"{producer.name} was never answered again"
        if story.chance.happens(0.5):
            await broker.close()
        return True

    return run(watched(work(), story), seed=story.chance.below(1 << 30))


def read_back(disk: SimulatedDisk, story: Story, make_syncer: MakeSyncer = SimulatedSyncer) -> None:
    """Opens a broker once more and adds to the history all it holds."""

    async def read() -> None:
        broker = await open_broker(disk, story, make_syncer)
        topic = broker.topics.by_name(TOPIC)
        for index in range(PARTITIONS):
            log = None if topic is None else broker.partition(topic, index)
            records = [] if log is None else read_all(log)
            start_offset = 0 if log is None else log.log_start_offset
            story.history.began_at(f"{TOPIC}-{index}", start_offset)
            story.history.read_back(f"{TOPIC}-{index}", records, start_offset)
        for name, must_be in story.topics.items():
            is_there = broker.topics.by_name(name) is not None
            assert must_be is None or must_be == is_there, f"{name} is there: {is_there}"
        story.producer_ids.append(await broker.new_producer_id())
        assert len(set(story.producer_ids)) == len(story.producer_ids), "a producer id came twice"

    run(watched(read(), story))


async def open_broker(
    disk: Disk, story: Story, make_syncer: MakeSyncer = SimulatedSyncer
) -> Broker:
    disk.make_directory(ROOT)
    disk.sync_directory("")
    name = str(len(story.epochs))
    world = World(
        disk,
        make_syncer(story.chance.fork(f"syncs {name}")),
        LoopClock(),
        story.chance.fork(f"ids {name}"),
        story.damages.append,
    )
    broker = await Broker.open(world, ROOT, SETTINGS, NO_EXPIRY)
    assert broker.leader_epoch not in story.epochs, "an epoch was taken twice"
    story.epochs.append(broker.leader_epoch)
    return broker


async def topic_of(broker: Broker) -> TopicCreated:
    return broker.topics.by_name(TOPIC) or await broker.create_topic(TOPIC, PARTITIONS, {})


async def serve(broker: Broker, story: Story) -> None:
    """All clients do some work, each at its own pace."""
    topic = await topic_of(broker)
    async with asyncio.TaskGroup() as clients:
        for producer in story.producers:
            producing = Producing(broker, topic, story, producer)
            clients.create_task(producing.run(TURNS))
        for index in range(PARTITIONS):
            clients.create_task(Consuming(broker, topic, index, story).run(TURNS))
        clients.create_task(administer(broker, story))
        clients.create_task(tidy(broker, topic, story))


async def watched(work: Coroutine[Any, Any, Result], story: Story) -> Result:
    """Runs `work`; a `PowerCut` anywhere in the loop ends it, other lost exceptions are noted."""
    loop = asyncio.get_running_loop()
    dark: asyncio.Future[None] = loop.create_future()

    def notice(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception") or AssertionError(context["message"])
        if not isinstance(error, PowerCut):
            story.errors.append(error)
        elif not dark.done():
            dark.set_result(None)

    loop.set_exception_handler(notice)
    task = loop.create_task(work)
    ends: list[asyncio.Future[Any]] = [task, dark]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if dark.done():
        task.cancel()
        await asyncio.wait([task])
    failure = None if task.cancelled() else task.exception()
    if _is_power_cut(failure) or (failure is None and dark.done()):
        raise PowerCut("the broker's life ended")
    return task.result()


def _is_power_cut(error: BaseException | None) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(PowerCut) is not None
    return isinstance(error, PowerCut)
