"""Syncers: every job runs once, every outcome is told, in the loop."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from riverlog.stores import syncer as syncer_module
from riverlog.stores.syncer import AdaptiveSyncer, InlineSyncer, Job, Outcome, Syncer

FAILURE = OSError(5, "broken")


def fail() -> None:
    raise FAILURE


def make(kind: str) -> Syncer:
    return InlineSyncer() if kind == "inline" else AdaptiveSyncer()


async def outcomes_of(run: Callable[[Callable[[list[Outcome]], None]], None]) -> list[Outcome]:
    """What `run` tells its callback, which must be called in the loop's own thread."""
    told: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
    thread = threading.get_ident()

    def done(outcomes: list[Outcome]) -> None:
        assert threading.get_ident() == thread
        told.set_result(outcomes)

    run(done)
    return await asyncio.wait_for(told, 5)


@pytest.mark.parametrize("kind", ["inline", "adaptive"])
@pytest.mark.parametrize("count", [1, 2, 40])
async def test_every_job_runs_once_and_has_its_own_outcome(kind: str, count: int) -> None:
    syncer = make(kind)
    ran: list[int] = []

    def job(number: int) -> Job:
        def run() -> None:
            ran.append(number)
            if number % 3 == 1:
                fail()

        return run

    jobs = [job(number) for number in range(count)]
    outcomes = await outcomes_of(lambda done: syncer.run(jobs, done))
    assert sorted(ran) == list(range(count))
    assert outcomes == [FAILURE if number % 3 == 1 else None for number in range(count)]
    syncer.close()


@pytest.mark.parametrize("kind", ["inline", "adaptive"])
async def test_work_apart_tells_how_it_ended(kind: str) -> None:
    syncer = make(kind)
    assert await outcomes_of(lambda done: syncer.run_apart(fail, done)) == [FAILURE]
    syncer.close()


async def test_one_quick_sync_runs_where_it_is_asked() -> None:
    syncer = AdaptiveSyncer()
    threads: list[int] = []
    syncer.run([lambda: threads.append(threading.get_ident())], lambda _: None)
    assert threads == [threading.get_ident()]
    syncer.close()


async def test_a_sync_that_nobody_waits_for_leaves_the_loop() -> None:
    syncer = AdaptiveSyncer()
    threads: list[int] = []
    job = [lambda: threads.append(threading.get_ident())]
    assert await outcomes_of(lambda done: syncer.run(job, done, is_awaited=False)) == [None]
    assert threads != [threading.get_ident()]
    syncer.close()


async def test_on_a_slow_disk_syncs_leave_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syncer_module, "INLINE_SYNC_NS_MAX", -1)
    syncer = AdaptiveSyncer()
    threads: list[int] = []
    job = [lambda: threads.append(threading.get_ident())]
    await outcomes_of(lambda done: syncer.run(job, done))
    assert threads != [threading.get_ident()]
    syncer.close()


async def test_closing_waits_for_what_is_running() -> None:
    syncer = AdaptiveSyncer()
    release, ran = threading.Event(), threading.Event()

    def slow() -> None:
        release.wait(5)
        ran.set()

    syncer.run_apart(slow, lambda _: None)
    release.set()
    syncer.close()
    assert ran.is_set()
