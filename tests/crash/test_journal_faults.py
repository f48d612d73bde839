"""A segment's sync fails, and then death comes before the journal has been caught up with.

What only the journal had is saved, or about to be; what was given up must not come back.
"""

from dataclasses import dataclass
from random import Random

import pytest

from riverlog.broker import broker
from riverlog.testing.simulated_disk import Effect, Fault, Op, Survival
from tests.crash.schedule import Saga
from tests.crash.story import SMALL_JOURNAL
from tests.crash.test_log_crashes import lean_on_the_journal

CHUNKS = range(4)
STORIES_PER_CHUNK = 25
CALLS_AFTER_FAILURE = 60


@pytest.fixture(autouse=True)
def _small_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "JOURNAL_LIMITS", SMALL_JOURNAL)
    lean_on_the_journal(monkeypatch)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_crash_soon_after_a_failed_sync_costs_nothing_that_was_promised(chunk: int) -> None:
    fail_and_die(chunk)


def fail_and_die(chunk: int) -> None:
    """Tries one chunk's stories; raises `Anomalous` at the first bad one."""
    for number in range(STORIES_PER_CHUNK):
        chance = Random(f"{chunk} {number}")
        saga = Saga.begin(f"fail and die {chunk} {number}")
        failing = FailingSync(chance.randint(2, 30))
        times = chance.choice((1, 1, 3))
        saga.live(
            Fault(Effect.EIO, failing.at, times, frozenset({Op.SYNC}), fits=failing.is_segment),
            Fault(
                Effect.CRASH_AFTER,
                chance.randint(1, CALLS_AFTER_FAILURE),
                fits=failing.is_over,
            ),
        )
        killed = saga.fork("kill")
        killed.kill()
        killed.verify()
        for survival in (Survival.NOTHING, chance.choice(list(Survival)[1:])):
            cut = saga.fork(survival)
            cut.cut_power(survival)
            cut.verify()


@dataclass(slots=True)
class FailingSync:
    """Counts the syncs of segments up to the one that fails."""

    at: int
    count: int = 0

    def is_segment(self, path: str) -> bool:
        is_it = "/topics/" in path and ".log" in path
        self.count += is_it
        return is_it

    def is_over(self, _path: str) -> bool:
        return self.count >= self.at
