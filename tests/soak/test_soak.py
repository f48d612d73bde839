"""Clients come and go all day long, and nothing of them stays."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker_process import BrokerProcess
from tests.soak import watched_broker
from tests.soak.churn import SETTINGS, Churn
from tests.soak.holding import Held, growing, held
from tests.tools import require

SOAK_S = int(os.environ.get("RIVERLOG_SOAK_S", "45"))
LOADS = 6
# Sockets that were left idle, segments that are about to go, deadlines of groups.
SETTLE_S = 1.5
SETTLE_S_MAX = 20

PLANTED_LOADS = 4
PLANTED_LOAD_S = 0.5


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[BrokerProcess]:
    require("kcat")
    process = BrokerProcess(tmp_path, *SETTINGS)
    process.program = (sys.executable, watched_broker.__file__, watched_broker.TIGHT)
    process.start()
    yield process
    process.kill()


@pytest.mark.timeout(max(300, 3 * SOAK_S))
def test_what_a_broker_holds_on_to_stays_the_same(watched: BrokerProcess) -> None:
    churn = Churn(watched)

    moments = soaked(watched, churn, LOADS, SOAK_S / LOADS - SETTLE_S)

    sys.stdout.write("".join(f"{moment._replace(objects={})}\n" for moment in moments))
    assert churn.failures == []
    assert growing(moments) == []
    watched.terminate()


def test_leaks_are_noticed(watched: BrokerProcess) -> None:
    watched.kill()
    watched.program = (sys.executable, watched_broker.__file__, watched_broker.LEAKING)
    watched.start()

    moments = soaked(watched, Churn(watched), PLANTED_LOADS, PLANTED_LOAD_S)

    noticed = {told.partition(":")[0] for told in growing(moments)}
    assert noticed >= {"tasks", "handles", "rss_bytes", "__main__.Trifle"}


def soaked(broker: BrokerProcess, churn: Churn, loads: int, load_s: float) -> list[Held]:
    """What the broker held after each load."""
    moments = []
    for _ in range(loads):
        churn.run(load_s)
        moments.append(settled(broker))
    return moments


def settled(broker: BrokerProcess) -> Held:
    """What it holds once the last client's traces are gone, as far as they will."""
    deadline = time.monotonic() + SETTLE_S_MAX
    time.sleep(SETTLE_S)
    now = held(broker)
    while time.monotonic() < deadline:
        time.sleep(0.3)
        before, now = now, held(broker)
        if (now.handles, now.tasks) == (before.handles, before.tasks):
            break
    return now
