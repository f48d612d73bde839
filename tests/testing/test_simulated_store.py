"""Each fault of the simulated store, and that together they tell right code from wrong."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path

import pytest

from riverlog.stores.memory_store import MemoryStore
from riverlog.stores.object_store import KeyTaken, NoSuchKey, ObjectStore, StoreError
from riverlog.testing import virtual_loop
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_store import Call, SimulatedStore, StoreFault, StoreFaults
from riverlog.testing.virtual_loop import LoopClock


def simulated(faults: StoreFaults, seed: int = 0) -> SimulatedStore:
    return SimulatedStore(MemoryStore(), LoopClock(), SeededChance(seed), faults)


def planned(plan: dict[int, StoreFault], late_calls: int = 1) -> SimulatedStore:
    return simulated(StoreFaults(plan=plan, late_calls_min=late_calls, late_calls_max=late_calls))


async def fails(call: Awaitable[object]) -> None:
    """With a plain `StoreError`, which tells nothing about whether the call was done."""
    with pytest.raises(StoreError) as caught:
        await call
    assert type(caught.value) is StoreError


async def test_an_unavailable_store_does_nothing() -> None:
    store = planned({1: StoreFault.UNAVAILABLE, 4: StoreFault.UNAVAILABLE})

    await fails(store.create("k", b"1"))

    assert not await store.list()
    await store.create("k", b"2")
    await fails(store.read("k", 0, 1))
    assert await store.read("k", 0, 1) == b"2"


async def test_a_storm_lasts_several_calls_and_ends() -> None:
    store = simulated(StoreFaults({StoreFault.UNAVAILABLE: 0.05}, storm_calls_max=20))

    for _ in range(300):
        with suppress(StoreError):
            await store.list()

    storms = "".join("x" if call.fault else "." for call in store.trace).split(".")
    assert max(map(len, storms)) >= 10
    assert len(storms) > 50


async def test_a_write_whose_reply_is_lost_is_done() -> None:
    store = planned({1: StoreFault.LOST_REPLY, 3: StoreFault.LOST_REPLY})

    await fails(store.create("k", b"1"))
    assert await store.read("k", 0, 1) == b"1"

    await fails(store.delete("k"))
    with pytest.raises(NoSuchKey):
        await store.read("k", 0, 1)


async def test_the_loser_of_a_race_may_lose_the_reply_too() -> None:
    store = planned({2: StoreFault.LOST_REPLY})
    await store.create("k", b"winner")

    await fails(store.create("k", b"loser"))

    assert await store.read("k", 0, 10) == b"winner"


async def test_a_late_write_is_done_some_calls_later() -> None:
    store = planned({1: StoreFault.LATE_WRITE}, late_calls=3)

    await fails(store.create("k", b"1"))

    for _ in range(2):
        with pytest.raises(NoSuchKey):
            await store.read("k", 0, 1)
    assert await store.read("k", 0, 1) == b"1"


async def test_a_late_write_loses_against_a_key_created_meanwhile() -> None:
    store = planned({1: StoreFault.LATE_WRITE}, late_calls=2)

    await fails(store.create("k", b"late"))
    await store.create("k", b"first")

    assert await store.read("k", 0, 10) == b"first"
    assert store.trace[-2] == Call(1, "create", "k", StoreFault.LATE_WRITE, "late KeyTaken")


async def test_what_is_still_under_way_can_be_let_in() -> None:
    store = planned({1: StoreFault.LATE_WRITE, 2: StoreFault.LATE_WRITE}, late_calls=100)
    await fails(store.create("k", b"1"))
    await fails(store.create("k", b"2"))

    await store.land_late_writes()

    assert await store.read("k", 0, 1) == b"1"


async def test_of_two_late_writes_the_second_may_be_done_first() -> None:
    store = planned({1: StoreFault.LATE_WRITE}, late_calls=5)
    await fails(store.create("k", b"1"))
    store.faults = StoreFaults(plan={2: StoreFault.LATE_WRITE}, late_calls_max=1)
    await fails(store.create("k", b"2"))

    await store.land_late_writes()

    assert await store.read("k", 0, 1) == b"2"


async def test_a_late_delete_takes_away_what_was_created_again() -> None:
    store = planned({2: StoreFault.LATE_WRITE}, late_calls=3)
    await store.create("k", b"1")

    await fails(store.delete("k"))
    await store.delete("k")
    await store.create("k", b"2")

    assert not await store.list()


async def test_a_late_file_is_what_it_was_when_it_was_sent(tmp_path: Path) -> None:
    store = planned({1: StoreFault.LATE_WRITE})
    file = tmp_path / "file"
    file.write_bytes(b"sent")

    await fails(store.create_from("k", str(file)))
    file.unlink()

    assert await store.read("k", 0, 10) == b"sent"


async def test_a_repeated_write_is_told_that_its_own_key_is_taken() -> None:
    store = planned({1: StoreFault.REPEATED_WRITE})

    with pytest.raises(KeyTaken):
        await store.create("k", b"mine")

    assert await store.read("k", 0, 10) == b"mine"


async def test_a_truncated_read_gives_fewer_bytes_than_there_are() -> None:
    store = simulated(StoreFaults({StoreFault.TRUNCATED_READ: 1.0}))
    await store.create("k", b"0123456789")
    await store.create("empty", b"")

    answers = [await store.read("k", 2, 5) for _ in range(200)]

    assert set(answers) == {b"", b"2", b"23", b"234", b"2345"}
    assert await store.read("empty", 0, 5) == b""


async def test_a_stale_list_misses_only_what_is_new() -> None:
    store = simulated(StoreFaults(plan={5: StoreFault.STALE_LIST}, stale_calls=2))
    for key in ("a", "b", "c", "d"):
        await store.create(key, b"")

    assert list(await store.list()) == ["a", "b"]
    assert list(await store.list()) == ["a", "b", "c", "d"]


def test_calls_travel_in_virtual_time_and_overtake_each_other() -> None:
    async def story() -> list[Call]:
        store = simulated(StoreFaults(latency_ms_max=100))
        await asyncio.gather(*(store.create(f"k{n}", b"") for n in range(10)))
        assert 100 < asyncio.get_running_loop().time() * 1000 <= 200
        return store.trace

    numbers = [call.number for call in virtual_loop.run(story())]
    assert numbers != sorted(numbers)
    assert sorted(numbers) == list(range(1, 11))


def test_a_timeout_leaves_the_write_in_doubt() -> None:
    async def story(seed: int) -> str:
        store = simulated(StoreFaults(latency_ms_max=100, late_calls_min=2, late_calls_max=2), seed)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.06):
                await store.create("k", b"1")
                return "in time"
        assert store.trace[0].outcome == "CancelledError"
        match [bool(await store.list()) for _ in range(2)]:
            case [True, True]:
                return "done, and only the reply missed"
            case [False, True]:
                return "late"
            case _:
                return "never"

    outcomes = {virtual_loop.run(story(seed)) for seed in range(100)}

    assert outcomes == {"in time", "done, and only the reply missed", "late", "never"}


async def test_faults_can_be_switched_off() -> None:
    store = simulated(StoreFaults({StoreFault.UNAVAILABLE: 1.0}))
    await fails(store.list())

    store.faults = StoreFaults()

    assert not await store.list()


async def test_a_fault_planned_for_the_wrong_call_is_the_tests_mistake() -> None:
    store = planned({1: StoreFault.TRUNCATED_READ})

    with pytest.raises(AssertionError, match="call 1 is create"):
        await store.create("k", b"")


async def test_the_trace_tells_what_happened() -> None:
    store = planned({2: StoreFault.LOST_REPLY})
    await store.create("a", b"")
    await fails(store.create("b", b""))
    with pytest.raises(KeyTaken):
        await store.create("b", b"")

    assert store.trace == [
        Call(1, "create", "a", None, "ok"),
        Call(2, "create", "b", StoreFault.LOST_REPLY, "StoreError"),
        Call(3, "create", "b", None, "KeyTaken"),
    ]


EVERYTHING = StoreFaults(
    {
        StoreFault.UNAVAILABLE: 0.03,
        StoreFault.LOST_REPLY: 0.1,
        StoreFault.LATE_WRITE: 0.1,
        StoreFault.REPEATED_WRITE: 0.05,
        StoreFault.TRUNCATED_READ: 0.1,
        StoreFault.STALE_LIST: 0.1,
    },
    storm_calls_max=5,
    latency_ms_max=20,
)


class RightCommitter:
    """Appends to a log of numbered objects that others append to as well."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.number = 0

    @property
    def key(self) -> str:
        return f"log/{self.number:08}"

    async def commit(self, value: bytes) -> None:
        while True:
            try:
                await self.store.create(self.key, value)
                break
            except StoreError:
                found = await self.found()
                if found == value:
                    break
                # Unless the number is taken, only the same bytes may be tried under it again:
                # an earlier try may still be under way.
                if found is not None:
                    self.number += 1
        self.number += 1

    async def found(self) -> bytes | None:
        while True:
            try:
                size = await self.store.size(self.key)
                data = await self.store.read(self.key, 0, size)
                if len(data) == size:
                    return data
            except NoSuchKey:
                return None
            except StoreError:
                pass


class TakesItsOwnKeyForAnothers(RightCommitter):
    async def commit(self, value: bytes) -> None:
        while True:
            try:
                await self.store.create(self.key, value)
                break
            except KeyTaken:
                self.number += 1
            except StoreError:
                pass
        self.number += 1


class TakesAnothersKeyForItsOwn(RightCommitter):
    async def commit(self, value: bytes) -> None:
        while True:
            try:
                await self.store.create(self.key, value)
                break
            except KeyTaken:
                break
            except StoreError:
                pass
        self.number += 1


class ForgetsLateWrites(RightCommitter):
    async def commit(self, value: bytes) -> None:
        while True:
            try:
                await self.store.create(self.key, value)
                break
            except StoreError:
                if await self.found() == value:
                    break
                self.number += 1
        self.number += 1


class TrustsShortReads(RightCommitter):
    async def found(self) -> bytes | None:
        while True:
            try:
                return await self.store.read(self.key, 0, 1_000)
            except NoSuchKey:
                return None
            except StoreError:
                pass


async def goes_wrong(committer: type[RightCommitter], store: SimulatedStore) -> bool:
    """Whether of two writers who each commit five values one finds any lost or doubled."""
    values = [[b"%d:%d" % (writer, n) for n in range(5)] for writer in range(2)]

    async def write(mine: list[bytes]) -> None:
        one = committer(store)
        for value in mine:
            await one.commit(value)

    await asyncio.gather(*map(write, values))
    store.faults = StoreFaults()
    await store.land_late_writes()
    log = [await store.read(key, 0, 1_000) for key in await store.list("log/")]
    return any([value for value in log if value in mine] != mine for mine in values)


def wrong_seeds(committer: type[RightCommitter]) -> list[int]:
    return [
        seed
        for seed in range(300)
        if virtual_loop.run(goes_wrong(committer, simulated(EVERYTHING, seed)), seed=seed)
    ]


def test_a_right_committer_never_goes_wrong() -> None:
    assert wrong_seeds(RightCommitter) == []


@pytest.mark.parametrize(
    "committer",
    [TakesItsOwnKeyForAnothers, TakesAnothersKeyForItsOwn, ForgetsLateWrites, TrustsShortReads],
)
def test_a_wrong_committer_is_caught(committer: type[RightCommitter]) -> None:
    assert len(wrong_seeds(committer)) > 30


def test_the_same_seed_gives_the_same_calls_faults_and_outcomes() -> None:
    def trace(seed: int) -> tuple[Call, ...]:
        store = simulated(EVERYTHING, seed)
        virtual_loop.run(goes_wrong(RightCommitter, store), seed=seed)
        return tuple(store.trace)

    traces = [trace(seed) for seed in range(20)]

    assert traces == [trace(seed) for seed in range(20)]
    assert len(set(traces)) == 20
