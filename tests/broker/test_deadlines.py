"""Deadlines: one sleeper for many, and nobody is called too early or never."""

from collections.abc import AsyncIterator

import pytest

from riverlog.broker.deadlines import Deadlines
from riverlog.runtime.tasks import Supervisor
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.seeded_chance import SeededChance


class Wakes:
    """Deadlines on a manual clock, and the keys that they called for."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.tasks = Supervisor(self.clock, SeededChance(1))
        self.called: list[str] = []
        self.deadlines = Deadlines(self.clock, self.tasks, self.called.append)

    async def advance(self, duration_ms: int) -> None:
        await self.clock.until_asleep()
        self.clock.advance_ms(duration_ms)
        for _ in range(5):
            await self.clock.sleep_ms(0)


@pytest.fixture
async def wakes() -> AsyncIterator[Wakes]:
    wakes = Wakes()
    yield wakes
    await wakes.tasks.close()


async def test_each_is_called_at_its_time_and_once(wakes: Wakes) -> None:
    wakes.deadlines.note("b", 200)
    wakes.deadlines.note("a", 100)
    await wakes.advance(99)
    assert wakes.called == []
    await wakes.advance(1)
    assert wakes.called == ["a"]
    await wakes.advance(500)
    assert wakes.called == ["a", "b"]


async def test_a_nearer_deadline_counts_and_a_farther_one_does_not(wakes: Wakes) -> None:
    wakes.deadlines.note("a", 100)
    wakes.deadlines.note("a", 50)
    wakes.deadlines.note("a", 70)
    await wakes.advance(50)
    assert wakes.called == ["a"]
    await wakes.advance(200)
    assert wakes.called == ["a"]


async def test_deadlines_that_come_and_go_leave_no_sleepers_behind(wakes: Wakes) -> None:
    wakes.deadlines.note("far", 10_000)
    for number in range(20):
        wakes.deadlines.note(f"near {number}", number * 100 + 50)
        await wakes.advance(100)
    assert len(wakes.called) == 20
    assert len(wakes.tasks.running) == 1


async def test_a_deadline_that_has_passed_is_called_at_once(wakes: Wakes) -> None:
    wakes.clock.advance_ms(100)
    wakes.deadlines.note("late", 50)
    for _ in range(5):
        await wakes.clock.sleep_ms(0)
    assert wakes.called == ["late"]
