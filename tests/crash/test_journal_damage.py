"""Every truncation and a flip in every byte of a journal that a broker left behind.

After a kill the segments have everything, after a power cut only the journal has it. Either way the
broker starts, says what it found, keeps those bytes aside and serves everything else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest

from riverlog.broker import broker as brokers
from riverlog.broker.broker import Broker, World
from riverlog.log.damage import Damage
from riverlog.log.journal import JournalLimits
from riverlog.log.journal_frames import decode
from riverlog.stores.syncer import InlineSyncer
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import SimulatedDisk, Survival
from riverlog.testing.virtual_loop import LoopClock, run
from tests.crash.scene import content, put
from tests.log.journaled import JOURNAL, ROOT, journal_files, new_disk, settle
from tests.log.logs import batch_of, read_all, write

PARTITIONS = 2
LIMITS = JournalLimits(file_bytes=1_000, files_max=4)
# The first two rounds go to the segments; each later one is a frame.
SYNCED = (b"opening", b"synced")
JOURNALED = (b"a", b"b", b"c")
ZEROS_TRIED = 10

Logs = list[dict[int, bytes | None]]


@dataclass(frozen=True, slots=True)
class Scene:
    """A data directory after a crash. `frames` are where those of the journal begin and end."""

    disk: SimulatedDisk
    path: str
    data: bytes
    frames: list[tuple[int, int]]
    is_needed: bool


@dataclass(frozen=True, slots=True)
class Damaged:
    """The journal as it is found: changed at `position`, or cut there; `hit` are frames."""

    position: int
    is_cut: bool
    data: bytes
    hit: frozenset[int]


@pytest.fixture(autouse=True)
def _small_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "JOURNAL_LIMITS", LIMITS)


async def open_broker(disk: SimulatedDisk, damages: list[Damage], seed: int) -> Broker:
    chance = SeededChance(f"ids {seed}")
    return await Broker.open(World(disk, InlineSyncer(), LoopClock(), chance, damages.append), ROOT)


async def live(disk: SimulatedDisk) -> None:
    broker = await open_broker(disk, [], 1)
    topic = await broker.create_topic("orders", PARTITIONS, {})
    for value in (*SYNCED, *JOURNALED):
        for index in range(PARTITIONS):
            write(broker.partition(topic, index), batch_of(value))
        await settle()


def new_scene(*, is_needed: bool) -> Scene:
    disk = new_disk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brokers, "JOURNAL_LIMITS", LIMITS)
        run(live(disk))
    disk = disk.power_cut(Survival.NOTHING) if is_needed else disk.process_crash()
    (path,) = [f"{JOURNAL}/{name}" for name in journal_files(disk) if _has_frames(disk, name)]
    data = content(disk, path)
    frames = [(frame.position, frame.end) for frame in decode(_salt(path), data).frames]
    assert len(frames) == len(JOURNALED)
    return Scene(disk, path, data, frames, is_needed)


def _has_frames(disk: SimulatedDisk, name: str) -> bool:
    return any(content(disk, f"{JOURNAL}/{name}"))


def _salt(path: str) -> bytes:
    return bytes.fromhex(path.removesuffix(".journal").rpartition("-")[2])


SCENES = {
    "killed": cache(lambda: new_scene(is_needed=False)),
    "power lost": cache(lambda: new_scene(is_needed=True)),
}


def cuts(scene: Scene) -> Iterator[Damaged]:
    for position in range(scene.frames[-1][1] + ZEROS_TRIED):
        hit = frozenset(n for n, (_, end) in enumerate(scene.frames) if position < end)
        yield Damaged(position, True, scene.data[:position], hit)


def flips(scene: Scene) -> Iterator[Damaged]:
    for position in range(scene.frames[-1][1] + ZEROS_TRIED):
        changed = bytearray(scene.data)
        changed[position] ^= 0xFF if position % 2 else 1 << position // 2 % 8
        hit = frozenset(n for n, (start, end) in enumerate(scene.frames) if start <= position < end)
        yield Damaged(position, False, bytes(changed), hit)


@pytest.mark.parametrize("name", SCENES)
def test_a_cut_journal_costs_at_most_the_rounds_cut_off(name: str) -> None:
    scene = SCENES[name]()
    for damaged in list(cuts(scene))[:: 2 if scene.is_needed else 5]:
        check(scene, damaged)


@pytest.mark.parametrize("name", SCENES)
def test_a_changed_byte_of_the_journal_costs_at_most_its_round(name: str) -> None:
    scene = SCENES[name]()
    for damaged in list(flips(scene))[:: 1 if scene.is_needed else 5]:
        check(scene, damaged)


def test_an_undamaged_journal_costs_nothing() -> None:
    for name in SCENES:
        scene = SCENES[name]()
        check(scene, Damaged(0, False, scene.data, frozenset()))


def check(scene: Scene, damaged: Damaged) -> None:
    disk = scene.disk.copy(Random(damaged.position))
    put(disk, scene.path, damaged.data)
    damages: list[Damage] = []
    place = f"{'cut' if damaged.is_cut else 'changed'} at {damaged.position}"

    async def start() -> Logs:
        broker = await open_broker(disk, damages, 2)
        topic = broker.topic("orders")
        logs = [broker.partition(topic, index) for index in range(PARTITIONS)]
        found = [dict(read_all(log)) for log in logs]
        for index, log in enumerate(logs):
            found[index][write(log, batch_of(b"new")).base_offset] = b"new"
        await settle()
        return found

    async def start_again() -> Logs:
        broker = await open_broker(disk, [], 3)
        topic = broker.topic("orders")
        return [dict(read_all(broker.partition(topic, index))) for index in range(PARTITIONS)]

    written = dict(enumerate((*SYNCED, *JOURNALED)))
    lost = {len(SYNCED) + n for n in damaged.hit} if scene.is_needed else set()
    kept = {offset: value for offset, value in written.items() if offset not in lost}
    found = run(start())
    for served in found:
        new_offset = max(served)
        assert served == {**kept, new_offset: b"new"}, place
        assert new_offset > max(kept), place
    if damaged.hit and any(damaged.data[_first_hit(scene, damaged) :]):
        # Cut between two frames it looks as if the second had never been written.
        assert damages, f"{place}: nothing was reported"
        remains = _remains(scene, damaged)
        aside = [content(disk, f"{JOURNAL}/{name}") for name in disk.list(JOURNAL)]
        assert any(remains in kept_bytes for kept_bytes in aside), f"{place}: nothing was kept"
    disk = disk.power_cut(Survival.NOTHING)
    assert run(start_again()) == found, f"{place}: the next start sees something else"


def _first_hit(scene: Scene, damaged: Damaged) -> int:
    return scene.frames[min(damaged.hit)][0]


def _remains(scene: Scene, damaged: Damaged) -> bytes:
    """What is left of the first frame that was hit."""
    start, end = scene.frames[min(damaged.hit)]
    return damaged.data[start:end].rstrip(b"\0")
