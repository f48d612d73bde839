"""A clock that goes on by itself and can be moved ahead."""

import asyncio

import pytest

from riverlog.testing.manual_clock import START_MS, ManualClock
from riverlog.testing.shifted_clock import ShiftedClock


async def test_it_goes_on_with_the_clock_behind_it() -> None:
    behind = ManualClock()
    clock = ShiftedClock(behind)
    clock.advance_ms(1_000)
    behind.advance_ms(5)
    assert (clock.now_ms(), clock.monotonic_ms()) == (START_MS + 1_005, 1_005)


async def test_advancing_wakes_those_who_are_due_and_no_others() -> None:
    clock = ShiftedClock()
    notes: list[int] = []

    async def sleeper(duration_ms: int) -> None:
        await clock.sleep_ms(duration_ms)
        notes.append(duration_ms)

    async with asyncio.TaskGroup() as group:
        for duration_ms in (3_600_000, 10_000, 20_000):
            group.create_task(sleeper(duration_ms))
        await asyncio.sleep(0)
        clock.advance_ms(30_000)
        for _ in range(3):
            await asyncio.sleep(0)
        assert sorted(notes) == [10_000, 20_000]
        clock.advance_ms(3_600_000)
    assert notes[2:] == [3_600_000]


async def test_one_who_was_woken_too_early_sleeps_for_the_rest() -> None:
    clock = ShiftedClock()
    sleeping = asyncio.create_task(clock.sleep_ms(1_020))
    await asyncio.sleep(0)
    clock.advance_ms(1_000)
    started_ms = clock.monotonic_ms()
    await sleeping
    assert 15 <= clock.monotonic_ms() - started_ms < 1_000


async def test_a_sleeper_may_be_cancelled_before_time_moves() -> None:
    clock = ShiftedClock()
    sleeping = asyncio.create_task(clock.sleep_ms(1_000))
    await asyncio.sleep(0)
    sleeping.cancel()
    clock.advance_ms(2_000)
    with pytest.raises(asyncio.CancelledError):
        await sleeping


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(ValueError):
        ShiftedClock().advance_ms(-1)
