"""Disk work in virtual time: syncs take a while, end in any order, and die with the power."""

import asyncio
from collections.abc import Callable, Sequence

from riverlog.stores.syncer import Done, Job, Outcome, attempt
from riverlog.testing.seeded_chance import SeededChance

SYNC_US_MAX = 300


class SimulatedSyncer:
    """A `Syncer` whose jobs run at moments drawn from a seed, while the loop goes on."""

    def __init__(self, chance: SeededChance) -> None:
        self._chance = chance

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        if self._chance.happens(0.3):
            done([attempt(job) for job in jobs])
            return
        outcomes: list[Outcome] = [None] * len(jobs)
        left = len(jobs)

        def run_one(number: int) -> None:
            nonlocal left
            outcomes[number] = attempt(jobs[number])
            left -= 1
            if not left:
                done(outcomes)

        for number in range(len(jobs)):
            self._later(run_one, number)

    def run_apart(self, job: Job, done: Done) -> None:
        self._later(lambda _: done([attempt(job)]), 0)

    def close(self) -> None:
        pass

    def _later(self, callback: Callable[[int], None], number: int) -> None:
        delay_s = self._chance.between(1, SYNC_US_MAX) / 1_000_000
        asyncio.get_running_loop().call_later(delay_s, callback, number)
