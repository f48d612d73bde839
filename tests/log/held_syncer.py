"""A syncer for tests that decide themselves when the disk is done."""

import asyncio
from collections.abc import Sequence

from riverlog.stores.syncer import Done, Job, attempt

TURNS_MAX = 5


class HeldSyncer:
    """Runs no round until it is released, like a slow disk; work apart runs at once."""

    def __init__(self) -> None:
        self.rounds: list[tuple[list[Job], Done]] = []
        self.awaited: list[bool] = []
        """Of each round that was asked for, whether anybody waits for it."""

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        self.rounds.append((list(jobs), done))
        self.awaited.append(is_awaited)

    def run_apart(self, job: Job, done: Done) -> None:
        done([attempt(job)])

    def close(self) -> None:
        pass

    async def begun(self) -> bool:
        """Whether a round is held, once everyone had a chance to begin one."""
        for _ in range(TURNS_MAX):
            await asyncio.sleep(0)
        return bool(self.rounds)

    async def release(self) -> None:
        """Lets one round run to its end."""
        assert await self.begun(), "no round has begun"
        jobs, done = self.rounds.pop(0)
        done([attempt(job) for job in jobs])
