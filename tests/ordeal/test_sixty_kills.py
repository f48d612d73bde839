"""Sixty times `kill -9`, and pauses, under producers, groups and everything else clients do.

In the environment, `RIVERLOG_KILLS` is how often; `RIVERLOG_SEED` repeats the choices of an earlier
run, as far as clocks and threads allow.
"""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.broker_process import BrokerProcess
from tests.crash_real.dying import BEGINNING_S_MAX, begin_and_die
from tests.crash_real.judgement import each
from tests.crash_real.load import KINDS
from tests.crash_real.wire import wired
from tests.ordeal.members import PUBLISHED, Members
from tests.ordeal.ordeal import LOADED, Ordeal, undergoing

KILLS = int(os.environ.get("RIVERLOG_KILLS", "60"))
# To read all back takes longer the more there is; a loss stays one.
CHECKED_EVERY = 15
PAUSE_SHARE, PAUSE_S_MAX = 0.25, 0.4
EARLY_DEATH_SHARE = 0.2


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


@pytest.mark.timeout(900)
def test_sixty_kills_break_no_promise(broker: BrokerProcess, chance: Random) -> None:
    with undergoing(broker, chance, KINDS) as ordeal, working(ordeal) as members:
        for number in range(1, KILLS + 1):
            ordeal.live()
            if chance.random() < PAUSE_SHARE:
                _pause(broker, chance.random() * PAUSE_S_MAX)
            _kill_and_start(ordeal)
            if number % CHECKED_EVERY == 0:
                assert ordeal.complaints() == []
                assert [*ordeal.unexpected(), *members.complaints()] == []
            ordeal.work_on()
        ordeal.end()
        members.stop_publishing()

        assert ordeal.complaints() == []
        ends = _ends(broker, LOADED)
        members.catch_up(ends, _ends(broker, PUBLISHED))
        ordeal.load.stop(ends)
        assert [*ordeal.unexpected(), *members.complaints()] == []
        assert ordeal.errands.undone() == []
        broker.terminate()


@contextmanager
def working(ordeal: Ordeal) -> Iterator[Members]:
    """Groups at work beside the rest; they have ended at the end of the `with`."""
    with wired(ordeal.broker) as wire:
        for topic, partition_count in PUBLISHED.items():
            wire.create_topic(topic, partition_count)
    ordeal.others.update(PUBLISHED)
    members = Members(ordeal.broker.bootstrap, ordeal.history, list(LOADED))
    try:
        members.start()
        yield members
    finally:
        members.stop()


def _pause(broker: BrokerProcess, pause_s: float) -> None:
    """Stops the broker in its tracks for a while, as a machine without time for it does."""
    os.kill(broker.pid, signal.SIGSTOP)
    time.sleep(pause_s)
    os.kill(broker.pid, signal.SIGCONT)


def _kill_and_start(ordeal: Ordeal) -> None:
    """Dies while everyone works, perhaps again as soon as it is back."""
    broker, chance = ordeal.broker, ordeal.chance
    ordeal.errands.may_be_refused()
    broker.kill()
    ordeal.errands.end()
    while chance.random() < EARLY_DEATH_SHARE:
        begin_and_die(broker, chance.random() * BEGINNING_S_MAX)
    broker.start()


def _ends(broker: BrokerProcess, topics: Mapping[str, int]) -> dict[str, int]:
    """What the next record of each partition would follow."""
    with wired(broker) as wire:
        return {
            f"{topic}-{index}": wire.fetch(topic, 0, index).high_watermark
            for topic, index in each(topics)
        }
