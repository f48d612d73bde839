"""What every object store does. What is not checked here, callers may not rely on."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from riverlog.stores.directory_store import DirectoryStore
from riverlog.stores.disk import Disk, OsDisk, opened
from riverlog.stores.memory_store import MemoryStore
from riverlog.stores.object_store import (
    InvalidKey,
    KeyTaken,
    NoSuchKey,
    ObjectStore,
    StoreError,
    check_key,
    list_all,
)
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import SimulatedDisk
from riverlog.testing.simulated_store import SimulatedStore


@dataclass(frozen=True, slots=True)
class World:
    """A store, and the disk that it takes files from."""

    store: ObjectStore
    disk: Disk
    folder: str

    def write_file(self, name: str, data: bytes) -> str:
        path = f"{self.folder}/{name}"
        with opened(self.disk.create(path)) as file:
            file.write(0, data)
        return path


@pytest.fixture(
    params=["memory", "directory", "directory on a simulated disk", "simulated without faults"]
)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    disk: Disk = OsDisk()
    folder = str(tmp_path)
    chance = SeededChance(0)
    match request.param:
        case "memory":
            yield World(MemoryStore(), disk, folder)
        case "directory":
            with ThreadPoolExecutor(4) as executor:
                store = await DirectoryStore.open(disk, f"{folder}/store", executor, chance)
                yield World(store, disk, folder)
        case "directory on a simulated disk":
            disk = SimulatedDisk(Random(0))
            disk.make_directory("/data")
            with ThreadPoolExecutor(1) as executor:
                store = await DirectoryStore.open(disk, "/data/store", executor, chance)
                yield World(store, disk, "/data")
        case _:
            yield World(SimulatedStore(MemoryStore(), ManualClock(), chance), disk, folder)


@pytest.fixture
def store(world: World) -> ObjectStore:
    return world.store


async def test_what_was_created_is_read_back(store: ObjectStore) -> None:
    await store.create("a/b", b"0123456789")

    assert await store.read("a/b", 0, 10) == b"0123456789"
    assert await store.size("a/b") == 10


async def test_a_range_gives_just_its_bytes(store: ObjectStore) -> None:
    await store.create("k", b"0123456789")

    assert await store.read("k", 3, 4) == b"3456"
    assert await store.read("k", 3, 0) == b""


async def test_a_range_over_the_end_gives_what_there_is(store: ObjectStore) -> None:
    await store.create("k", b"0123456789")

    assert await store.read("k", 8, 2**40) == b"89"
    assert await store.read("k", 10, 5) == b""
    assert await store.read("k", 99, 5) == b""


async def test_an_object_may_be_empty(store: ObjectStore) -> None:
    await store.create("k", b"")

    assert await store.read("k", 0, 10) == b""
    assert await store.size("k") == 0
    assert list(await store.list()) == ["k"]


async def test_large_objects_and_all_byte_values_come_back_unchanged(store: ObjectStore) -> None:
    data = bytes(range(256)) * 12_000

    await store.create("k", data)

    assert await store.read("k", 0, len(data)) == data
    assert await store.read("k", 2_999_999, 300) == data[2_999_999:3_000_299]


@pytest.mark.parametrize("key", ["k", "missing/k", "k/below"])
async def test_a_missing_key_is_told(store: ObjectStore, key: str) -> None:
    await store.create("other", b"")

    with pytest.raises(NoSuchKey):
        await store.read(key, 0, 1)
    with pytest.raises(NoSuchKey):
        await store.read(key, 0, 0)
    with pytest.raises(NoSuchKey):
        await store.size(key)


async def test_the_second_creator_loses_and_changes_nothing(store: ObjectStore) -> None:
    await store.create("k", b"first")

    with pytest.raises(KeyTaken):
        await store.create("k", b"second")

    assert await store.read("k", 0, 100) == b"first"


async def test_the_same_bytes_are_no_excuse_for_a_taken_key(store: ObjectStore) -> None:
    await store.create("k", b"same")

    with pytest.raises(KeyTaken):
        await store.create("k", b"same")


async def test_of_sixteen_racing_creators_exactly_one_wins(store: ObjectStore) -> None:
    values = [b"creator %d" % number * 100 for number in range(16)]

    outcomes = await asyncio.gather(
        *(store.create("race/k", value) for value in values), return_exceptions=True
    )

    winners = [value for value, outcome in zip(values, outcomes, strict=True) if outcome is None]
    losers = [outcome for outcome in outcomes if outcome is not None]
    assert [type(outcome) for outcome in losers] == [KeyTaken] * 15
    assert await store.read("race/k", 0, 10_000) == winners[0]
    assert list(await store.list()) == ["race/k"]


async def test_a_file_becomes_an_object_and_its_name_may_go(world: World) -> None:
    path = world.write_file("segment", b"x" * 3_000_000)

    await world.store.create_from("a/segment", path)
    world.disk.remove(path)

    assert await world.store.size("a/segment") == 3_000_000
    assert await world.store.read("a/segment", 2_999_998, 10) == b"xx"


async def test_a_file_loses_against_a_taken_key_and_stays(world: World) -> None:
    await world.store.create("k", b"first")
    path = world.write_file("segment", b"second")

    with pytest.raises(KeyTaken):
        await world.store.create_from("k", path)

    assert await world.store.read("k", 0, 100) == b"first"
    assert world.disk.exists(path)


async def test_a_file_that_is_not_there_is_a_store_error(world: World) -> None:
    with pytest.raises(StoreError):
        await world.store.create_from("k", f"{world.folder}/missing")

    assert not await world.store.list()


async def test_what_was_deleted_is_gone(store: ObjectStore) -> None:
    await store.create("a/k", b"1")
    await store.create("a/l", b"2")

    await store.delete("a/k")

    with pytest.raises(NoSuchKey):
        await store.read("a/k", 0, 1)
    assert list(await store.list()) == ["a/l"]


async def test_deleting_what_is_not_there_is_no_error(store: ObjectStore) -> None:
    await store.create("a/k", b"1")

    for key in ("a/k", "a/k", "never/was", "neither"):
        await store.delete(key)

    assert not await store.list()


async def test_a_deleted_key_can_be_created_anew(store: ObjectStore) -> None:
    await store.create("k", b"old")
    await store.delete("k")

    await store.create("k", b"new")

    assert await store.read("k", 0, 100) == b"new"


# Among them pairs that a walk over sorted names would get wrong: `-` and `.` come before `/`.
KEYS = ["a", "a-b", "a.b", "a/", "a/-", "a/b", "a/b-c", "a/b/c", "a0", "a=b", "A", "a_b", "b/a"]
KEYS = sorted(key for key in KEYS if not key.endswith("/"))


async def test_keys_are_listed_in_order(store: ObjectStore) -> None:
    for key in reversed(KEYS):
        await store.create(key, b"")

    assert list(await store.list()) == KEYS


@pytest.mark.parametrize("after", ["", "0", "A", "a", "a-", "a/", "a/b", "a/b/", "a/b0", "b", "z"])
async def test_a_list_begins_after_any_given_text(store: ObjectStore, after: str) -> None:
    for key in KEYS:
        await store.create(key, b"")

    assert list(await store.list(after=after)) == [key for key in KEYS if key > after]
    assert list(await store.list("a/", after)) == [
        key for key in KEYS if key.startswith("a/") and key > after
    ]


async def test_a_prefix_is_whole_segments(store: ObjectStore) -> None:
    for key in KEYS:
        await store.create(key, b"")

    assert list(await store.list("a/")) == ["a/-", "a/b", "a/b-c", "a/b/c"]
    assert list(await store.list("a/b/")) == ["a/b/c"]
    assert not await store.list("a/b/c/")
    assert not await store.list("none/")
    with pytest.raises(InvalidKey):
        await store.list("a")


async def test_pages_follow_each_other_without_gap_or_overlap(store: ObjectStore) -> None:
    for key in KEYS:
        await store.create(key, b"")

    pages: list[str] = []
    after = ""
    while page := await store.list(after=after, limit=5):
        assert len(page) <= 5
        pages.extend(page)
        after = page[-1]

    assert pages == KEYS
    assert [key async for key in list_all(store, "a/")] == [k for k in KEYS if k.startswith("a/")]


LONGEST = "/".join(["d" * 127] * 3 + ["d" * 128])
VALID = ["k", "ABCxyz019._=-", "...", "a/.b/..c/-", "x" * 250, LONGEST, "/".join("s" * 256)]
INVALID = ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "x" * 251, LONGEST + "d"]
INVALID += ["a b", "a\nb", "a\n", "a\0", "a+b", "a~", "ä", "\ud800"]


async def test_every_valid_key_can_be_stored(store: ObjectStore) -> None:
    for key in VALID:
        await store.create(key, key.encode())

    assert list(await store.list()) == sorted(VALID)
    for key in VALID:
        assert await store.read(key, 0, 1000) == key.encode()


@pytest.mark.parametrize("key", INVALID)
async def test_every_verb_refuses_an_invalid_key(world: World, key: str) -> None:
    path = world.write_file("file", b"")

    with pytest.raises(InvalidKey):
        check_key(key)
    for verb in (
        world.store.create(key, b""),
        world.store.create_from(key, path),
        world.store.read(key, 0, 1),
        world.store.size(key),
        world.store.delete(key),
    ):
        with pytest.raises(InvalidKey):
            await verb


async def test_any_sequence_of_calls_does_what_a_dictionary_does(store: ObjectStore) -> None:
    chance = Random(1)
    model: dict[str, bytes] = {}
    for _ in range(150):
        key = "/".join(chance.choices(["a", "a-", "b"], k=chance.randint(1, 3)))
        match chance.choice(["create", "create", "delete", "read", "list"]):
            case "create":
                data = chance.randbytes(chance.randint(0, 50))
                try:
                    await store.create(key, data)
                    is_taken = False
                except KeyTaken:
                    is_taken = True
                assert is_taken == (key in model)
                model.setdefault(key, data)
            case "delete":
                await store.delete(key)
                model.pop(key, None)
            case "read" if key in model:
                start, size = chance.randint(0, 60), chance.randint(0, 60)
                assert await store.read(key, start, size) == model[key][start : start + size]
            case "list":
                expected = sorted(known for known in model if known > key)
                assert list(await store.list(after=key)) == expected
    assert {key: await store.read(key, 0, 100) for key in await store.list()} == model
