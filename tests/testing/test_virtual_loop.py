"""The event loop in virtual time: replayable, curious about orders, and honest about deadlocks."""

import asyncio
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from riverlog.testing import virtual_loop
from riverlog.testing.manual_clock import START_MS
from riverlog.testing.virtual_loop import Deadlock, LoopClock


def loop_time_ms() -> float:
    return asyncio.get_running_loop().time() * 1000


def test_a_day_passes_in_an_instant() -> None:
    async def story() -> float:
        await asyncio.sleep(86_000)
        async with asyncio.timeout(300):
            await asyncio.sleep(299)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.sleep(2)
        return loop_time_ms()

    before_s = time.monotonic()
    assert virtual_loop.run(story()) == 86_300_000
    assert time.monotonic() - before_s < 5


async def interleaved(names: str) -> str:
    """Tasks that meet at every turn; what comes out is the order they ran in."""
    turns: list[str] = []

    async def work(name: str) -> None:
        for _ in range(3):
            turns.append(name)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(work(name))
    return "".join(turns)


def test_the_same_seed_gives_the_same_schedule() -> None:
    for seed in range(20):
        runs = {virtual_loop.run(interleaved("abcdef"), seed=seed) for _ in range(3)}
        assert len(runs) == 1


def test_seeds_explore_orders_and_no_seed_keeps_asyncios() -> None:
    orders = {virtual_loop.run(interleaved("abc"), seed=seed)[:3] for seed in range(100)}

    assert orders == {"abc", "acb", "bac", "bca", "cab", "cba"}
    assert virtual_loop.run(interleaved("abc")) == "abcabcabc"


async def cancelled_together() -> str:
    """asyncio keeps the tasks of a group in a set, and cancels them in its order."""
    ended: list[str] = []

    async def wait(name: str) -> None:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append(name)

    async def fail() -> None:
        await asyncio.sleep(1)
        raise ValueError

    try:
        async with asyncio.TaskGroup() as group:
            for name in "abcdefghijklmnop":
                group.create_task(wait(name))
            group.create_task(fail())
    except* ValueError:
        pass
    futures = {asyncio.get_running_loop().create_future(): name for name in "abcdefgh"}
    return "".join(ended) + "".join(futures[future] for future in set(futures))


def test_the_same_seed_gives_the_same_schedule_in_every_process() -> None:
    program = (
        "import sys; ballast = [object() for _ in range(int(sys.argv[1]))]\n"
        "from riverlog.testing import virtual_loop\n"
        "from tests.testing.test_virtual_loop import cancelled_together\n"
        "print(virtual_loop.run(cancelled_together(), seed=5))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, ballast],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": ballast},
            check=True,
            capture_output=True,
        ).stdout
        for ballast in ("1", "1001", "77777")
    }

    assert outputs == {(virtual_loop.run(cancelled_together(), seed=5) + "\n").encode()}


def test_a_lost_update_is_found_by_some_seed_only() -> None:
    async def story() -> int:
        total = 0
        ready = asyncio.Event()

        async def add(turns: int) -> None:
            nonlocal total
            await ready.wait()
            for _ in range(turns):
                await asyncio.sleep(0)
            read = total
            await asyncio.sleep(0)
            total = read + 1

        async with asyncio.TaskGroup() as group:
            group.create_task(add(0))
            group.create_task(add(1))
            ready.set()
        return total

    totals = [virtual_loop.run(story(), seed=seed) for seed in range(50)]

    assert 0 < totals.count(1) < 50


def test_plain_callbacks_keep_the_order_asyncio_promises() -> None:
    async def story() -> list[int]:
        ran: list[int] = []
        loop = asyncio.get_running_loop()
        for number in range(20):
            loop.call_soon(ran.append, number)
            asyncio.create_task(asyncio.sleep(0))  # noqa: RUF006 - only to be shuffled about.
        await asyncio.sleep(1)
        for number in range(20, 40):
            loop.call_at(2, ran.append, number)
        await asyncio.sleep(2)
        return ran

    for seed in range(20):
        assert virtual_loop.run(story(), seed=seed) == list(range(40))


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


def test_a_deadlock_names_who_waits_where_and_the_seed() -> None:
    async def story() -> None:
        await asyncio.sleep(1.5)
        task = asyncio.create_task(wait_for_ever(), name="flusher")
        await task

    with pytest.raises(Deadlock) as caught:
        virtual_loop.run(story(), seed=42)

    message = str(caught.value)
    assert "at 1500.000 ms" in message
    assert "flusher in wait_for_ever (" in message
    assert f"{__file__}:{wait_for_ever.__code__.co_firstlineno + 1})" in message
    assert caught.value.__notes__ == ["replay it with seed=42"]


def test_a_cancelled_timer_moves_no_time() -> None:
    async def story() -> None:
        asyncio.get_running_loop().call_later(100, print).cancel()
        await wait_for_ever()

    with pytest.raises(Deadlock, match=r"at 0\.000 ms"):
        virtual_loop.run(story())


def test_a_scenario_that_only_ticks_ends_at_its_limit() -> None:
    cleaned: list[float] = []

    async def story() -> None:
        async def tick() -> None:
            for _ in itertools.count():
                await asyncio.sleep(10)

        ticking = asyncio.create_task(tick())
        try:
            await wait_for_ever()
        finally:
            ticking.cancel()
            await asyncio.sleep(1)
            cleaned.append(loop_time_ms())

    with pytest.raises(Deadlock, match=r"not done after 60 s.*story"):
        virtual_loop.run(story(), time_ms_max=60_000)
    assert cleaned == [71_000]


def test_what_is_left_running_is_cancelled_and_cleans_up() -> None:
    cleaned: list[str] = []

    async def left() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            await asyncio.sleep(5)
            cleaned.append("left")

    async def story() -> None:
        task = asyncio.create_task(left())
        await asyncio.sleep(1)
        assert not task.done()

    virtual_loop.run(story())
    assert cleaned == ["left"]


def test_calls_on_an_executor_run_in_this_thread_and_take_time() -> None:
    async def story() -> None:
        before_ms = loop_time_ms()
        assert await asyncio.to_thread(threading.get_ident) == threading.get_ident()
        assert loop_time_ms() > before_ms

    virtual_loop.run(story(), seed=1)


class Stop(BaseException):
    pass


@pytest.mark.parametrize("failure", [ValueError, Stop])
def test_what_a_call_on_an_executor_raises_reaches_its_caller(failure: type) -> None:
    def fail() -> None:
        raise failure

    async def story() -> None:
        with pytest.raises(failure):
            await asyncio.to_thread(fail)

    virtual_loop.run(story(), seed=1)


async def executed(workers: int) -> tuple[list[int], list[int]]:
    """The orders in which calls on an executor take effect and in which their results arrive."""
    effects: list[int] = []
    results: list[int] = []
    loop = asyncio.get_running_loop()

    def note(number: int, _: asyncio.Future[None]) -> None:
        results.append(number)

    with ThreadPoolExecutor(workers) as executor:
        calls = [loop.run_in_executor(executor, effects.append, number) for number in range(6)]
        for number, call in enumerate(calls):
            call.add_done_callback(partial(note, number))
        await asyncio.gather(*calls)
    return effects, results


def test_one_thread_runs_its_calls_in_order_and_several_in_any() -> None:
    in_order = list(range(6))
    single = [virtual_loop.run(executed(1), seed=seed) for seed in range(30)]
    several = [virtual_loop.run(executed(3), seed=seed) for seed in range(30)]

    assert all(effects == in_order for effects, _ in single)
    assert any(effects != in_order for effects, _ in several)
    assert any(results != effects for effects, results in several)


def test_a_call_that_nobody_waits_for_may_take_effect_all_the_same() -> None:
    async def story() -> tuple[bool, bool]:
        done: list[int] = []
        call = asyncio.get_running_loop().run_in_executor(None, done.append, 1)
        await asyncio.sleep(0.0005)
        was_done = bool(done)
        call.cancel()
        await asyncio.sleep(1)
        return was_done, bool(done)

    outcomes = {virtual_loop.run(story(), seed=seed) for seed in range(50)}

    assert outcomes == {(True, True), (False, True), (False, False)}


def test_a_thread_from_outside_is_turned_away() -> None:
    failures: list[Exception] = []

    def intrude(call_in: Callable[[], object]) -> None:
        try:
            call_in()
        except RuntimeError as error:
            failures.append(error)

    async def story() -> None:
        loop = asyncio.get_running_loop()
        thread = threading.Thread(
            target=intrude, args=(lambda: loop.call_soon_threadsafe(lambda: None),)
        )
        thread.start()
        thread.join()
        loop.call_soon_threadsafe(lambda: None)
        await asyncio.sleep(1)

    virtual_loop.run(story())
    assert len(failures) == 1


def test_the_loop_clock_follows_the_loop_and_its_wall_clock_jumps() -> None:
    async def story() -> None:
        clock = LoopClock()
        await clock.sleep_ms(1_001)
        assert clock.monotonic_ms() == 1_001
        assert clock.now_ms() == START_MS + 1_001
        clock.jump_wall_ms(-START_MS)
        assert clock.now_ms() == 1_001
        assert clock.monotonic_ms() == 1_001

    virtual_loop.run(story())
