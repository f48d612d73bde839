"""A clock that moves only when told."""

import asyncio

import pytest

from riverlog.testing.manual_clock import START_MS, ManualClock


async def note_when_awake(clock: ManualClock, duration_ms: int, notes: list[int]) -> None:
    await clock.sleep_ms(duration_ms)
    notes.append(duration_ms)


async def test_time_stands_still_until_it_is_moved() -> None:
    clock = ManualClock()
    notes: list[int] = []
    sleeping = asyncio.create_task(note_when_awake(clock, 10, notes))
    await clock.until_asleep()

    clock.advance_ms(9)
    await asyncio.sleep(0.01)
    assert notes == []
    assert (clock.now_ms(), clock.monotonic_ms()) == (START_MS + 9, 9)

    clock.advance_ms(1)
    await sleeping
    assert notes == [10]


async def test_one_advance_wakes_in_order_of_deadlines_then_of_falling_asleep() -> None:
    clock = ManualClock()
    notes: list[str] = []

    async def sleeper(name: str, duration_ms: int) -> None:
        await clock.sleep_ms(duration_ms)
        notes.append(name)

    async with asyncio.TaskGroup() as group:
        for name, duration_ms in (("c", 30), ("a", 10), ("b", 20), ("a2", 10), ("c2", 30)):
            group.create_task(sleeper(name, duration_ms))
        await clock.until_asleep(5)
        clock.advance_ms(1_000)

    assert notes == ["a", "a2", "b", "c", "c2"]


async def test_the_wall_clock_jumps_without_waking_anyone() -> None:
    clock = ManualClock(now_ms=5_000)
    sleeping = asyncio.create_task(clock.sleep_ms(100))
    await clock.until_asleep()

    clock.jump_wall_ms(3_600_000)
    clock.jump_wall_ms(-3_605_000)
    await asyncio.sleep(0)

    assert clock.now_ms() == 0
    assert clock.monotonic_ms() == 0
    assert not sleeping.done()
    clock.advance_ms(100)
    await sleeping


async def test_a_cancelled_sleeper_is_no_sleeper() -> None:
    clock = ManualClock()
    sleeping = asyncio.create_task(clock.sleep_ms(10))
    await clock.until_asleep()

    sleeping.cancel()
    await asyncio.wait([sleeping])

    assert clock.sleeper_count == 0
    clock.advance_ms(20)


async def test_time_cannot_be_advanced_backwards() -> None:
    with pytest.raises(ValueError):
        ManualClock().advance_ms(-1)
