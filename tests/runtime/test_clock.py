"""What every clock does, and the system's own."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from riverlog.runtime.clock import Clock, SystemClock
from riverlog.testing import virtual_loop
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.shifted_clock import ShiftedClock
from riverlog.testing.virtual_loop import LoopClock

Story = Callable[[Clock], Coroutine[Any, Any, None]]


def play(kind: str, story: Story) -> None:
    match kind:
        case "system":
            asyncio.run(story(SystemClock()))
        case "shifted":
            asyncio.run(story(ShiftedClock()))
        case "loop":
            virtual_loop.run(story(LoopClock()), seed=1)
        case _:
            asyncio.run(advancing(story))


async def advancing(story: Story) -> None:
    clock = ManualClock()
    playing = asyncio.create_task(story(clock))
    while not playing.done():
        clock.advance_ms(1)
        await asyncio.sleep(0)
    await playing


KINDS = pytest.mark.parametrize("kind", ["system", "shifted", "loop", "manual"])


@KINDS
def test_a_sleep_lasts_at_least_as_long_as_asked(kind: str) -> None:
    async def story(clock: Clock) -> None:
        for duration_ms in (1, 3, 7, 20):
            before_ms = clock.monotonic_ms()
            await clock.sleep_ms(duration_ms)
            assert clock.monotonic_ms() - before_ms >= duration_ms

    play(kind, story)


@KINDS
def test_sleepers_wake_in_order_of_their_deadlines(kind: str) -> None:
    async def story(clock: Clock) -> None:
        woken: list[int] = []

        async def sleeper(duration_ms: int) -> None:
            await clock.sleep_ms(duration_ms)
            woken.append(duration_ms)

        async with asyncio.TaskGroup() as group:
            for duration_ms in (40, 10, 30, 20):
                group.create_task(sleeper(duration_ms))
        assert woken == [10, 20, 30, 40]

    play(kind, story)


@KINDS
@pytest.mark.parametrize("duration_ms", [0, -5])
def test_a_sleep_of_nothing_lets_others_run(kind: str, duration_ms: int) -> None:
    async def story(clock: Clock) -> None:
        ran: list[str] = []

        async def other() -> None:
            ran.append("other")

        task = asyncio.create_task(other())
        while not ran:
            await clock.sleep_ms(duration_ms)
        await task

    play(kind, story)


@KINDS
def test_a_sleep_can_be_cancelled(kind: str) -> None:
    async def story(clock: Clock) -> None:
        sleeping = asyncio.create_task(clock.sleep_ms(1_000_000))
        await clock.sleep_ms(1)
        sleeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleeping

    play(kind, story)


def test_the_system_clock_tells_the_time_of_day() -> None:
    before_s = time.time()
    now_ms = SystemClock().now_ms()

    assert before_s - 0.001 <= now_ms / 1000 <= time.time()
