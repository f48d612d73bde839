"""What a broker holds on to between loads, and whether it becomes more each time."""

import json
import os
import signal
import time
from collections.abc import Sequence
from typing import NamedTuple

from tests.broker_process import BrokerProcess
from tests.fuzz.siege import holding
from tests.soak.watched_broker import MARK

TELL_S_MAX = 20

# So much more is no leak yet.
RSS_SLACK_BYTES = 3 << 20
COUNT_SLACK = 2


class Held(NamedTuple):
    """At one quiet moment."""

    rss_bytes: int
    handles: int
    sockets: int
    tasks: int
    threads: int
    objects: dict[str, int]


def held(broker: BrokerProcess) -> Held:
    """Asks the broker, and the system about it."""
    said_bytes = broker.log.stat().st_size
    os.kill(broker.pid, signal.SIGUSR1)
    deadline = time.monotonic() + TELL_S_MAX
    while True:
        with broker.log.open("rb") as log:
            log.seek(said_bytes)
            for line in log.read().decode().split("\n")[:-1]:
                if line.startswith(MARK):
                    told = json.loads(line.removeprefix(MARK))
                    now = holding(broker.pid)
                    return Held(now.rss_bytes, now.handles, now.sockets, **told)
        assert time.monotonic() < deadline, "the broker does not say what it holds"
        time.sleep(0.02)


def growing(moments: Sequence[Held]) -> list[str]:
    """What was always more after the later loads than it ever was after the earlier ones."""
    found = []
    for name in ("handles", "sockets", "tasks", "threads"):
        found += _grown(name, [getattr(moment, name) for moment in moments], COUNT_SLACK)
    # It takes some loads until all code is loaded, and the pages of small objects are full.
    later = [moment.rss_bytes for moment in moments[len(moments) // 2 :]]
    found += _grown("rss_bytes", later, RSS_SLACK_BYTES)
    for kind in sorted({kind for moment in moments for kind in moment.objects}):
        counts = [moment.objects.get(kind, 0) for moment in moments]
        found += _grown(kind, counts, COUNT_SLACK)
    return found


def _grown(name: str, values: list[int], slack: int) -> list[str]:
    """A leak never falls back: the least of the second half is more than the most of the first."""
    half = len(values) // 2
    if min(values[half:]) > max(values[:half]) + slack:
        return [f"{name}: {values}"]
    return []
