"""Where blocking disk work runs: at once when that is quicker, otherwise in threads."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter_ns
from typing import Protocol

Job = Callable[[], None]
Outcome = OSError | None
Done = Callable[[list[Outcome]], None]

# A thread costs about this much in hand-overs; a disk that syncs quicker is better waited for.
INLINE_SYNC_NS_MAX = 1_000_000
THREADS = 16


class Syncer(Protocol):
    """Runs disk work and tells how each piece ended. Jobs raise nothing but `OSError`."""

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        """Runs every job, in any order, perhaps in threads; then calls `done` in the loop.

        `done` gets one outcome for each job and may be called before `run` returns. What is not
        `is_awaited` by anybody is not worth holding the loop for.
        """

    def run_apart(self, job: Job, done: Done) -> None:
        """Like `run` for work that may take long: never in the way of the loop."""

    def close(self) -> None:
        """Waits for what is running."""


class InlineSyncer:
    """Runs everything at once, where it is asked: for simulations and for tools."""

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        done([attempt(job) for job in jobs])

    def run_apart(self, job: Job, done: Done) -> None:
        done([attempt(job)])

    def close(self) -> None:
        pass


class AdaptiveSyncer:
    """Runs one quick sync in the loop itself, and several or slow ones in threads.

    While the loop waits for a quick disk, requests gather in the sockets and share the next sync;
    a thread would instead split those who wait for an answer into two groups that alternate. Where
    nobody waits, as with acks=1, a thread leaves the loop to those who ask.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="riverlog-sync")
        self._sync_ns = 0

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        if is_awaited and len(jobs) == 1 and self._sync_ns < INLINE_SYNC_NS_MAX:
            outcome = self._timed(jobs[0])
            done([outcome])
            return
        outcomes: list[Outcome] = [None] * len(jobs)
        threads = left = min(THREADS, len(jobs))

        def ended(first: int, ended_outcomes: list[Outcome]) -> None:
            nonlocal left
            outcomes[first::threads] = ended_outcomes
            left -= 1
            if not left:
                done(outcomes)

        for first in range(threads):
            self._threads.submit(self._run_all, first, jobs[first::threads], ended)

    def run_apart(self, job: Job, done: Done) -> None:
        def work() -> None:
            outcome = attempt(job)
            self._loop.call_soon_threadsafe(done, [outcome])

        self._threads.submit(work)

    def close(self) -> None:
        self._threads.shutdown(wait=True)

    def _run_all(
        self, first: int, jobs: Sequence[Job], ended: Callable[[int, list[Outcome]], None]
    ) -> None:
        outcomes = [self._timed(job) for job in jobs]
        self._loop.call_soon_threadsafe(ended, first, outcomes)

    def _timed(self, job: Job) -> Outcome:
        started_ns = perf_counter_ns()
        outcome = attempt(job)
        # A moving average over about eight syncs; a race between threads only blurs it.
        self._sync_ns += (perf_counter_ns() - started_ns - self._sync_ns) // 8
        return outcome


def apart(syncer: Syncer, job: Job) -> asyncio.Future[None]:
    """Runs a job out of the loop's way; done when it has ended, with the `OSError` it raised."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def done(outcomes: list[Outcome]) -> None:
        if ended.done():
            return
        if outcomes[0] is None:
            ended.set_result(None)
        else:
            ended.set_exception(outcomes[0])

    syncer.run_apart(job, done)
    return ended


def attempt(job: Job) -> Outcome:
    """Runs a job; its failure is an outcome, not an exception."""
    try:
        job()
    except OSError as error:
        return error
    return None
