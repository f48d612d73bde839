"""What the directory store promises beyond the contract: crashes, failed syncs, other hands."""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from riverlog.stores.directory_store import DirectoryStore
from riverlog.stores.disk import Disk, OsDisk, opened
from riverlog.stores.object_store import KeyTaken, NoSuchKey, StoreError
from riverlog.testing import virtual_loop
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import (
    Effect,
    Fault,
    Op,
    PowerCut,
    SimulatedDisk,
    Survival,
)

ROOT = "/store"
EXECUTOR = ThreadPoolExecutor(4)  # No thread of it ever starts: the virtual loop runs its calls.


async def opened_store(disk: Disk, root: str = ROOT) -> DirectoryStore:
    return await DirectoryStore.open(disk, root, EXECUTOR, SeededChance(0))


async def contents(store: DirectoryStore) -> dict[str, bytes]:
    return {key: await store.read(key, 0, 10_000_000) for key in await store.list()}


class Story:
    """Creates and deletes, keeping book of what must and what may be there afterwards."""

    def __init__(self) -> None:
        self.settled: dict[str, bytes] = {}
        self.open: tuple[str, bytes | None] | None = None

    async def tell(self, disk: Disk) -> None:
        store = await opened_store(disk)
        await self.create(store, "top", b"1" * 700)
        await self.create(store, "a/b/first", b"2" * 1500)
        await self.create(store, "a/b/second", b"")
        with opened(disk.create("/file")) as file:
            file.write(0, b"3" * 900)
        await self.create(store, "a/from-file", b"3" * 900, path="/file")
        disk.remove("/file")
        await self.delete(store, "a/b/first")
        await self.delete(store, "a/b/never")
        await self.create(store, "a/b/first", b"4" * 600)
        await self.delete(store, "top")

    async def create(
        self, store: DirectoryStore, key: str, data: bytes, path: str | None = None
    ) -> None:
        self.open = (key, data)
        if path:
            await store.create_from(key, path)
        else:
            await store.create(key, data)
        self.settled[key] = data
        self.open = None

    async def delete(self, store: DirectoryStore, key: str) -> None:
        self.open = (key, None)
        await store.delete(key)
        self.settled.pop(key, None)
        self.open = None

    def allows(self, found: dict[str, bytes]) -> bool:
        """Whether every finished call holds, and the one cut short happened whole or not at all."""
        if self.open is None:
            return found == self.settled
        key, data = self.open
        done = {**self.settled, key: data} if data is not None else dict(self.settled)
        if data is None:
            done.pop(key, None)
        return found in (self.settled, done)


async def reopened_contents(disk: Disk) -> dict[str, bytes]:
    return await contents(await opened_store(disk))


def change_count() -> int:
    disk = SimulatedDisk(Random(0))
    virtual_loop.run(Story().tell(disk))
    return disk.changes


CRASH_POINTS = range(1, change_count() + 1)


@pytest.mark.parametrize("survival", list(Survival))
def test_a_power_cut_at_any_call_keeps_acknowledged_objects_and_only_whole_ones(
    survival: Survival,
) -> None:
    for point in CRASH_POINTS:
        for seed in range(5):
            disk, story = SimulatedDisk(Random(seed)), Story()
            disk.inject(Fault(Effect.CRASH_AFTER, at=point))
            with pytest.raises(PowerCut):
                virtual_loop.run(story.tell(disk))

            found = virtual_loop.run(reopened_contents(disk.power_cut(survival)))

            assert story.allows(found), (point, seed, story.open)


def test_what_was_seen_after_a_kill_survives_a_power_cut() -> None:
    for point in CRASH_POINTS:
        disk, story = SimulatedDisk(Random(point)), Story()
        disk.inject(Fault(Effect.CRASH_AFTER, at=point))
        with pytest.raises(PowerCut):
            virtual_loop.run(story.tell(disk))
        disk = disk.process_crash()
        seen = virtual_loop.run(reopened_contents(disk))

        found = virtual_loop.run(reopened_contents(disk.power_cut(Survival.NOTHING)))

        assert story.allows(seen), point
        assert found.items() >= seen.items(), point


@pytest.mark.parametrize("effect", [Effect.EIO, Effect.ENOSPC])
def test_a_failure_at_any_call_is_a_store_error_and_never_a_false_promise(effect: Effect) -> None:
    async def tell(disk: SimulatedDisk, kept: dict[str, bytes]) -> None:
        store = await opened_store(disk)
        disk.inject(Fault(effect, at=point))
        for key in ("top", "a/b/first", "a/b/second", "a/c"):
            data = key.encode() * 300
            for _ in range(2):
                try:
                    await store.create(key, data)
                except KeyTaken:
                    assert await store.read(key, 0, 10_000) == data
                except StoreError:
                    continue
                kept[key] = data

    for point in range(1, 40):
        disk = SimulatedDisk(Random(point))
        kept: dict[str, bytes] = {}
        virtual_loop.run(tell(disk, kept))

        found = virtual_loop.run(reopened_contents(disk.power_cut(Survival.NOTHING)))

        assert found.items() >= kept.items(), point
        assert all(data == key.encode() * 300 for key, data in found.items()), point


def test_a_directory_that_failed_to_sync_takes_no_writes_and_serves_what_it_had() -> None:
    async def story() -> None:
        disk = SimulatedDisk(Random(0))
        store = await opened_store(disk)
        await store.create("a/before", b"1")
        disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC_DIRECTORY})))

        for write in (store.create("a/k", b"2"), store.create("a/k", b"2"), store.delete("a/k")):
            with pytest.raises(StoreError) as caught:
                await write
            assert not isinstance(caught.value, KeyTaken)

        assert await store.read("a/before", 0, 1) == b"1"
        with pytest.raises(StoreError):
            await store.read("a/k", 0, 1)
        await store.create("b/k", b"3")
        assert await reopened_contents(disk) == {"a/before": b"1", "a/k": b"2", "b/k": b"3"}

    virtual_loop.run(story())


def test_running_out_of_file_handles_is_forgiven() -> None:
    async def story() -> None:
        disk = HandleShortage(Random(0))
        store = await opened_store(disk)
        disk.is_short = True
        with pytest.raises(StoreError):
            await store.create("k", b"1")
        disk.is_short = False

        with pytest.raises(KeyTaken):
            await store.create("k", b"1")
        assert await store.read("k", 0, 1) == b"1"

    virtual_loop.run(story())


class HandleShortage(SimulatedDisk):
    is_short = False

    def sync_directory(self, path: str) -> None:
        if self.is_short:
            raise OSError(errno.EMFILE, "too many open files")
        super().sync_directory(path)


@pytest.mark.parametrize("look", ["read", "list"])
def test_what_another_reads_while_it_is_being_created_is_durable(look: str) -> None:
    disk = Peeked(Random(0))

    async def story() -> None:
        store = await opened_store(disk)
        disk.peek = lambda: store._read("a/k", 0, 9) if look == "read" else store._list("", "", 9)
        await store.create("a/k", b"1")

    with pytest.raises(PowerCut):
        virtual_loop.run(story())

    assert disk.seen == (b"1" if look == "read" else ("a/k",))
    after = disk.power_cut(Survival.NOTHING)
    assert virtual_loop.run(reopened_contents(after)) == {"a/k": b"1"}


class Peeked(SimulatedDisk):
    """Lets someone look between the link and the sync after it; then the power goes."""

    peek: Callable[[], object]
    seen: object = None

    def link(self, source: str, target: str) -> None:
        super().link(source, target)
        self.seen = self.peek()
        raise PowerCut


def test_drafts_left_by_a_crash_are_removed_at_open() -> None:
    async def story() -> None:
        disk = SimulatedDisk(Random(0))
        await opened_store(disk)
        disk.create(f"{ROOT}/+drafts/left")

        store = await opened_store(disk)

        assert disk.list(f"{ROOT}/+drafts") == []
        await store.create("k", b"1")
        assert disk.list(f"{ROOT}/+drafts") == []

    virtual_loop.run(story())


def test_a_file_on_another_file_system_is_copied() -> None:
    async def story() -> None:
        disk = OtherFileSystem(Random(0))
        with opened(disk.create("/file")) as file:
            file.write(0, b"x" * 2_500_000)
        store = await opened_store(disk)

        await store.create_from("k", "/file")
        disk.remove("/file")

        after = disk.power_cut(Survival.NOTHING)
        assert await reopened_contents(after) == {"k": b"x" * 2_500_000}

    virtual_loop.run(story())


class OtherFileSystem(SimulatedDisk):
    def link(self, source: str, target: str) -> None:
        if not source.startswith(ROOT):
            raise OSError(errno.EXDEV, "another file system")
        super().link(source, target)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DirectoryStore]:
    with ThreadPoolExecutor(4) as executor:
        root = str(tmp_path / "store")
        yield await DirectoryStore.open(OsDisk(), root, executor, SeededChance(0))


async def test_a_file_on_the_same_file_system_is_not_copied(
    store: DirectoryStore, tmp_path: Path
) -> None:
    file = tmp_path / "segment"
    file.write_bytes(b"x")

    await store.create_from("a/k", str(file))

    assert file.samefile(tmp_path / "store" / "a+" / "k")


async def test_what_others_put_into_the_directory_is_left_alone(
    store: DirectoryStore, tmp_path: Path
) -> None:
    (tmp_path / "store" / "lost+found").mkdir()
    (tmp_path / "store" / "notes for me+").mkdir()
    (tmp_path / "store" / "notes for me+" / "k").touch()
    await store.create("k", b"")

    assert list(await store.list()) == ["k"]


async def test_two_stores_in_one_directory_share_their_objects(
    store: DirectoryStore, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(2) as executor:
        root = str(tmp_path / "store")
        other = await DirectoryStore.open(OsDisk(), root, executor, SeededChance(1))

        outcomes = await asyncio.gather(
            *(one.create(f"race/{n}", b"") for n in range(20) for one in (store, other)),
            return_exceptions=True,
        )

        assert sum(outcome is None for outcome in outcomes) == 20
        assert sum(isinstance(outcome, KeyTaken) for outcome in outcomes) == 20
        await other.delete("race/3")
        with pytest.raises(NoSuchKey):
            await store.size("race/3")


async def test_a_root_without_a_parent_is_a_store_error(tmp_path: Path) -> None:
    root = str(tmp_path / "missing" / "store")
    with ThreadPoolExecutor(1) as executor, pytest.raises(StoreError):
        await DirectoryStore.open(OsDisk(), root, executor, SeededChance(0))
