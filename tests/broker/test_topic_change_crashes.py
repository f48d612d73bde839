"""A power cut at every call of the disk while topics change: what was answered is there after it.

What was not answered is there or not, whole; and every change comes after those before it.
"""

import asyncio
from itertools import product

import pytest

from riverlog.broker.broker import Broker, World
from riverlog.broker.config_changes import ConfigChange
from riverlog.log.damage import Damage
from riverlog.log.errors import StorageFailed
from riverlog.stores.syncer import InlineSyncer
from riverlog.testing.disk_faults import Effect, Fault
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import PowerCut, SimulatedDisk, Survival
from riverlog.testing.virtual_loop import Deadlock, LoopClock, run
from tests.broker.brokers import ROOT, new_disk

# What the topic is after each change; None before it is made, and after it is deleted.
State = tuple[int, dict[str, str]] | None
STATES: list[State] = [
    None,
    (1, {}),
    (1, {"segment.ms": "7"}),
    (3, {"segment.ms": "7"}),
    (3, {"segment.ms": "7", "cleanup.policy": "delete,compact"}),
    (4, {"segment.ms": "7", "cleanup.policy": "delete,compact"}),
    None,
]


async def open_broker(disk: SimulatedDisk, damages: list[Damage], seed: int) -> Broker:
    chance = SeededChance(seed)
    world = World(disk, InlineSyncer(), LoopClock(), chance, damages.append)
    return await Broker.open(world, ROOT)


async def change(broker: Broker, step: int) -> None:
    match step:
        case 1:
            await broker.create_topic("a", 1, {})
        case 2:
            await broker.changes.set_configs("a", {"segment.ms": "7"})
        case 3:
            await broker.changes.add_partitions("a", 3)
        case 4:
            appended = ConfigChange("cleanup.policy", "APPEND", "compact")
            await broker.changes.change_configs("a", [appended])
        case 5:
            await broker.changes.add_partitions("a", 4)
        case _:
            await broker.delete_topic(broker.topic("a").topic_id)


def work(disk: SimulatedDisk) -> int:
    """Makes every change, as far as the disk lasts; how many were answered."""
    answered = 0
    lost: list[object] = []

    async def make_changes() -> None:
        nonlocal answered
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: lost.append(context.get("exception")))
        broker = await open_broker(disk, [], 1)
        for step in range(1, len(STATES)):
            await change(broker, step)
            answered = step

    try:
        run(make_changes())
    except Deadlock:
        # Whoever waits for a disk that is gone waits for ever.
        assert lost
    except (PowerCut, StorageFailed, OSError):
        pass
    assert all(isinstance(error, PowerCut) for error in lost)
    return answered


def found(disk: SimulatedDisk) -> State:
    """What a start finds of the topic, with a copy that says the same."""
    damages: list[Damage] = []

    async def look() -> State:
        broker = await open_broker(disk, damages, 2)
        topic = broker.topics.by_name("a")
        if topic is None:
            return None
        assert broker._files.read(topic.topic_id, damages.append) == topic
        return topic.partition_count, dict(topic.configs)

    return run(look())


def calls() -> int:
    disk = new_disk()
    before = disk.changes
    assert work(disk) == len(STATES) - 1
    return disk.changes - before


CALLS = calls()


@pytest.mark.parametrize("survival", Survival)
def test_a_power_cut_anywhere_costs_no_answered_change(survival: Survival) -> None:
    for at, effect in product(range(1, CALLS + 1), (Effect.CRASH_BEFORE, Effect.CRASH_AFTER)):
        disk = new_disk()
        disk.inject(Fault(effect, at=at))
        answered = work(disk)
        state = found(disk.power_cut(survival))
        assert state in STATES[answered : answered + 2], f"{effect.value} call {at}: {state}"


@pytest.mark.parametrize("effect", [Effect.EIO, Effect.ENOSPC])
def test_a_call_that_fails_costs_no_answered_change(effect: Effect) -> None:
    for at in range(1, CALLS + 1):
        disk = new_disk()
        disk.inject(Fault(effect, at=at))
        answered = work(disk)
        state = found(disk.power_cut(Survival.NOTHING))
        assert state in STATES[answered : answered + 2], f"{effect.name} at call {at}: {state}"
