"""Every truncation and a flip in every byte of what a broker knows of itself.

Topics are told by the metadata log and by a copy in each topic's directory: either may be lost.
The broker starts, says what it found, keeps those bytes aside, and no topic is gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest

from riverlog.broker.broker import Broker, World
from riverlog.log.damage import Damage
from riverlog.stores.syncer import InlineSyncer
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import SimulatedDisk, Survival
from riverlog.testing.virtual_loop import LoopClock, run
from tests.crash.scene import Stretch, content, put, stretches
from tests.log.logs import Read, batch_of, read_all

ROOT = "data"
LOG = f"{ROOT}/metadata/00000000000000000000.log"
CHECKPOINT = f"{ROOT}/metadata/checkpoint"
ZEROS_TRIED = 20
PRODUCER_ID = 0  # The first one that a broker gives.


@dataclass(frozen=True, slots=True)
class Known:
    """What is true of a broker whatever happens to one of its files."""

    topics: dict[str, tuple[bytes, int, dict[str, str]]]
    records: list[Read]


@dataclass(frozen=True, slots=True)
class Scene:
    """A data directory at rest."""

    disk: SimulatedDisk
    known: Known
    epoch: int
    files: dict[str, bytes]


async def open_broker(disk: SimulatedDisk, damages: list[Damage], seed: int) -> Broker:
    chance = SeededChance(f"ids {seed}")
    world = World(disk, InlineSyncer(), LoopClock(), chance, damages.append)
    return await Broker.open(world, ROOT)


async def produce(broker: Broker, topic: str, value: bytes, sequence: int) -> int:
    log = broker.partition(broker.topic(topic), 0)
    appended = broker.append(log, batch_of(value, producer=(PRODUCER_ID, 0), sequence=sequence))
    durable = log.durable(appended.end_offset)
    if durable is not None:
        await durable
    return appended.base_offset


def what_is_known(broker: Broker) -> Known:
    topics = {t.name: (t.topic_id, t.partition_count, dict(t.configs)) for t in broker.topics}
    return Known(topics, read_all(broker.partition(broker.topic("orders"), 0)))


def new_scene(*, is_closed: bool) -> Scene:
    disk = SimulatedDisk(Random(0))
    disk.make_directory(ROOT)
    disk.sync_directory("")

    async def begin() -> None:
        broker = await open_broker(disk, [], 1)
        await broker.create_topic("orders", 1, {"retention.ms": "1000"})
        gone = await broker.create_topic("gone", 1, {})
        await broker.delete_topic(gone.topic_id)
        await broker.create_topic("payments", 3, {})
        assert await broker.new_producer_id() == PRODUCER_ID
        await produce(broker, "orders", b"first", 0)
        await broker.close()

    async def go_on() -> tuple[Known, int]:
        broker = await open_broker(disk, [], 2)
        await produce(broker, "orders", b"second", 1)
        known = what_is_known(broker)
        if is_closed:
            await broker.close()
        return known, broker.leader_epoch

    run(begin())
    known, epoch = run(go_on())
    disk = disk.power_cut(Survival.NOTHING)
    copies = [
        f"{ROOT}/topics/{topic_id.hex()}/topic.json" for topic_id, _, _ in known.topics.values()
    ]
    files = {path: content(disk, path) for path in (LOG, CHECKPOINT, *copies)}
    return Scene(disk, known, epoch, files)


SCENES = {
    "closed": cache(lambda: new_scene(is_closed=True)),
    "crashed": cache(lambda: new_scene(is_closed=False)),
}
FILES = [(name, path) for name, scene in SCENES.items() for path in scene().files]


def cuts(data: bytes) -> Iterator[tuple[int, bytes]]:
    for position in range(min(len(data), len(data.rstrip(b"\0")) + ZEROS_TRIED)):
        yield position, data[:position]


def flips(data: bytes) -> Iterator[tuple[int, bytes]]:
    for position in range(min(len(data), len(data.rstrip(b"\0")) + ZEROS_TRIED)):
        changed = bytearray(data)
        changed[position] ^= 1 << position % 8
        yield position, bytes(changed)


@pytest.mark.parametrize(("scene_name", "path"), FILES)
def test_a_cut_file_costs_no_topic_and_no_start(scene_name: str, path: str) -> None:
    scene = SCENES[scene_name]()
    for position, damaged in cuts(scene.files[path]):
        check(scene, path, damaged, f"{path} cut at {position}")


@pytest.mark.parametrize(("scene_name", "path"), FILES)
def test_a_changed_byte_costs_no_topic_and_no_start(scene_name: str, path: str) -> None:
    scene = SCENES[scene_name]()
    for position, damaged in flips(scene.files[path]):
        check(scene, path, damaged, f"{path} changed at {position}")


def check(scene: Scene, path: str, damaged: bytes, place: str) -> None:
    disk = scene.disk.copy(Random(0))
    put(disk, path, damaged)
    damages: list[Damage] = []

    async def start() -> None:
        broker = await open_broker(disk, damages, 3)
        found = what_is_known(broker)
        found.topics.pop("gone", None)  # Its end may have been forgotten.
        assert found == scene.known, f"{place}: not what it was"
        assert broker.leader_epoch > scene.epoch, f"{place}: an epoch was taken again"
        assert await broker.new_producer_id() != PRODUCER_ID, f"{place}: an id was given again"
        await broker.create_topic("new", 1, {})
        assert await produce(broker, "orders", b"third", 2) == 2, f"{place}: offset given again"

    async def start_again() -> Known:
        return what_is_known(await open_broker(disk, [], 4))

    run(start())
    disk = disk.power_cut(Survival.NOTHING)
    later = run(start_again())
    assert {*later.topics} >= {*scene.known.topics, "new"}, f"{place}: gone at the next start"
    assert [read.value for read in later.records] == [b"first", b"second", b"third"], place
    remains = _remains(scene.files[path], damaged)
    if remains is not None:
        assert damages, f"{place}: nothing was reported"
        assert any(remains in kept for kept in _aside(disk, path)), f"{place}: nothing was kept"


def _remains(data: bytes, damaged: bytes) -> bytes | None:
    """What must be kept aside; None if only zeros filled ahead were cut off, or nothing is left."""
    batches = stretches(data) if data[:1] == b"\0" else [Stretch(0, len(data), frozenset())]
    same = next((n for n, byte in enumerate(damaged) if byte != data[n]), len(damaged))
    for batch in batches:
        if same < batch.end:
            return damaged[batch.start : batch.end].rstrip(b"\0") or None
    return damaged[same : same + 1] or None


def _aside(disk: SimulatedDisk, path: str) -> list[bytes]:
    directory = path.rpartition("/")[0]
    names = [name for name in disk.list(directory) if ".damaged" in name or ".torn" in name]
    return [content(disk, f"{directory}/{name}") for name in names]
