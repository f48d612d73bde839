"""Background tasks: failing, starting again, stopping."""

import asyncio
import logging
from contextlib import suppress
from functools import partial

import pytest

from riverlog.runtime.tasks import Supervisor
from riverlog.testing import virtual_loop
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.virtual_loop import LoopClock


class NoJitter:
    """Chance without jitter."""

    def random_bytes(self, size: int) -> bytes:
        return bytes(size)

    def below(self, limit: int) -> int:
        return 0


def supervisor(backoff_ms_min: int = 100, backoff_ms_max: int = 30_000) -> Supervisor:
    return Supervisor(
        LoopClock(), NoJitter(), backoff_ms_min=backoff_ms_min, backoff_ms_max=backoff_ms_max
    )


def reports(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def test_work_that_returns_is_done(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        tasks, calls = supervisor(), []

        async def work() -> None:
            calls.append(1)

        tasks.start("job", work)
        assert tasks.running == ["job"]
        await asyncio.sleep(1_000)
        assert tasks.running == []
        assert len(calls) == 1
        tasks.start("job", work)
        await tasks.close()

    virtual_loop.run(story())
    assert reports(caplog) == []


def test_each_failure_is_reported_once_with_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        tasks, failures = supervisor(), [ValueError("first"), KeyError("second")]

        async def work() -> None:
            if failures:
                raise failures.pop(0)

        tasks.start("flusher", work)
        await asyncio.sleep(10)
        await tasks.close()

    virtual_loop.run(story())
    assert reports(caplog) == [
        "task failed task=flusher restart_ms=100",
        "task failed task=flusher restart_ms=200",
    ]
    assert [record.exc_info and record.exc_info[0] for record in caplog.records] == [
        ValueError,
        KeyError,
    ]


def test_pauses_double_up_to_the_longest() -> None:
    async def story() -> list[float]:
        tasks, started_s = supervisor(backoff_ms_min=100, backoff_ms_max=1_000), []

        async def work() -> None:
            started_s.append(asyncio.get_running_loop().time())
            raise ValueError

        tasks.start("failing", work)
        await asyncio.sleep(4)
        await tasks.close()
        return started_s

    assert virtual_loop.run(story()) == pytest.approx([0, 0.1, 0.3, 0.7, 1.5, 2.5, 3.5])


def test_work_that_ran_long_is_forgiven() -> None:
    async def story() -> list[float]:
        tasks, started_s = supervisor(backoff_ms_min=100, backoff_ms_max=1_000), []

        async def work() -> None:
            started_s.append(asyncio.get_running_loop().time())
            if len(started_s) == 4:
                await asyncio.sleep(1)
            raise ValueError

        tasks.start("failing", work)
        await asyncio.sleep(2.1)
        await tasks.close()
        return started_s

    assert virtual_loop.run(story()) == pytest.approx([0, 0.1, 0.3, 0.7, 1.8, 2.0])


def test_those_who_fail_together_come_back_apart() -> None:
    async def story() -> list[float]:
        tasks, second_tries_s = Supervisor(LoopClock(), SeededChance(0)), []

        async def fail_once(tries: list[int]) -> None:
            tries.append(1)
            if len(tries) == 1:
                raise ValueError
            second_tries_s.append(asyncio.get_running_loop().time())

        for number in range(20):
            tasks.start(f"task-{number}", partial(fail_once, []))
        await asyncio.sleep(1)
        await tasks.close()
        return second_tries_s

    times_s = virtual_loop.run(story())
    assert len(set(times_s)) > 10
    assert 0.08 <= min(times_s) <= max(times_s) <= 0.1


async def test_the_pause_follows_the_given_clock() -> None:
    clock, starts = ManualClock(), []
    tasks = Supervisor(clock, NoJitter())

    async def work() -> None:
        starts.append(1)
        raise ValueError

    tasks.start("failing", work)
    await clock.until_asleep()
    clock.advance_ms(99)
    await asyncio.sleep(0.01)
    assert len(starts) == 1

    clock.advance_ms(1)
    await clock.until_asleep()
    assert len(starts) == 2
    await tasks.close()
    assert tasks.running == []


def test_a_cancelled_future_inside_the_work_is_a_failure_and_no_silent_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        tasks, tries = supervisor(), []

        async def work() -> None:
            tries.append(1)
            if len(tries) == 1:
                cancelled = asyncio.get_running_loop().create_future()
                cancelled.cancel()
                await cancelled

        tasks.start("flusher", work)
        await asyncio.sleep(1)
        assert len(tries) == 2
        await tasks.close()

    virtual_loop.run(story())
    assert reports(caplog) == ["task failed task=flusher restart_ms=100"]


def test_close_cancels_everything_and_waits_for_the_clean_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        tasks, cleaned = supervisor(), []

        async def work(name: str) -> None:
            try:
                await asyncio.sleep(10_000)
            finally:
                await asyncio.sleep(1)
                cleaned.append(name)

        for name in ("a", "b", "c"):
            tasks.start(name, partial(work, name))
        await asyncio.sleep(1)
        inner = list(tasks._tasks.values())

        await tasks.close(deadline_ms=2_000)

        assert cleaned == ["a", "b", "c"]
        assert all(task.cancelled() for task in inner)
        assert tasks.running == []
        assert asyncio.get_running_loop().time() == pytest.approx(2)

    virtual_loop.run(story())
    assert reports(caplog) == []


def test_close_waits_no_longer_than_its_deadline_and_names_who_stayed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        tasks = supervisor()

        async def stubborn() -> None:
            while asyncio.get_running_loop().time() < 60:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(1)

        tasks.start("stubborn", stubborn)
        tasks.start("obedient", partial(asyncio.sleep, 10_000))
        await asyncio.sleep(1)
        await tasks.close(deadline_ms=3_000)
        assert asyncio.get_running_loop().time() == pytest.approx(4)
        assert tasks.running == ["stubborn"]
        await asyncio.sleep(100)

    virtual_loop.run(story())
    assert reports(caplog) == ["tasks did not stop tasks=stubborn deadline_ms=3000"]


def test_a_failure_while_stopping_is_reported_and_ends_the_work(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        tasks, starts = supervisor(), []

        async def work() -> None:
            starts.append(1)
            try:
                await asyncio.sleep(10_000)
            finally:
                raise ValueError("while cleaning up")

        tasks.start("job", work)
        await asyncio.sleep(1)
        await tasks.close()
        await asyncio.sleep(1_000)
        assert len(starts) == 1

    virtual_loop.run(story())
    assert reports(caplog) == ["task failed while stopping task=job"]


def test_close_during_a_pause_does_not_wait_for_its_end() -> None:
    async def story() -> None:
        tasks, starts = supervisor(), []

        async def work() -> None:
            starts.append(1)
            raise ValueError

        tasks.start("failing", work)
        await asyncio.sleep(0.05)
        await tasks.close()
        assert asyncio.get_running_loop().time() == pytest.approx(0.05)
        await asyncio.sleep(1_000)
        assert len(starts) == 1

    virtual_loop.run(story())


def test_whoever_is_cancelled_in_close_learns_it_and_leaves_nothing_behind() -> None:
    async def story() -> None:
        tasks = supervisor()

        async def slow() -> None:
            try:
                await asyncio.sleep(10_000)
            finally:
                await asyncio.sleep(10)

        tasks.start("slow", slow)
        await asyncio.sleep(1)
        closing = asyncio.create_task(tasks.close())
        await asyncio.sleep(1)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await asyncio.sleep(20)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    virtual_loop.run(story())


def test_starting_twice_or_after_close_is_our_own_mistake() -> None:
    async def story() -> None:
        tasks = supervisor()
        tasks.start("job", partial(asyncio.sleep, 1))
        with pytest.raises(AssertionError):
            tasks.start("job", partial(asyncio.sleep, 1))
        await tasks.close()
        with pytest.raises(AssertionError):
            tasks.start("other", partial(asyncio.sleep, 1))

    virtual_loop.run(story())
