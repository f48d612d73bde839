"""Publishes the orders at a steady pace: `… examples.pipeline.producer BOOTSTRAP SEED RATE`.

Told `until N`, it goes on to row N; told `close N`, it publishes the closing order and ends. It
says how many rows are durable, as JSON lines. A broker that is away is waited for, and whatever is
tried again is in the log once: every batch has a number that the broker knows.
"""

import sys
import time
from collections import deque
from threading import Thread

from examples.pipeline.orders import TOPIC, Orders, Row
from examples.pipeline.telling import listen, say

import riverlog
from riverlog.client.sync_client import Client
from riverlog.client.sync_publishing import SyncPublishing
from riverlog.runtime.clock import SystemClock

# No partition gets further ahead of another than the rows under way: the watermark counts on it.
ROWS_TOGETHER = 2000
UNDER_WAY_MAX = 2
OUTAGE_MS_MAX = 120_000
CLOCK = SystemClock()
_PAUSE_S = 0.02


class Orderly:
    """What it was told last, by another thread."""

    def __init__(self) -> None:
        self.until = 0
        self.is_closing = False

    def hear(self, line: str) -> None:
        """Takes `until N` or `close N`."""
        verb, number = line.split()
        self.until = int(number)
        self.is_closing = verb == "close"


def main(bootstrap: str, seed: str, rate: str) -> None:
    """Publishes until it is told to close."""
    told, orders = Orderly(), Orders(int(seed))
    Thread(target=listen, args=(told.hear,), daemon=True).start()
    with riverlog.connect(bootstrap, timeout_ms=OUTAGE_MS_MAX) as client:
        done = _publish(client, orders, told, float(rate))
        _published(client, [orders.closing(done)]).results()
    say(acked=done, closed=True)


def _publish(client: Client, orders: Orders, told: Orderly, rate: float) -> int:
    under_way: deque[SyncPublishing] = deque()
    sent = acked = 0
    due_ms = CLOCK.monotonic_ms()
    while sent < told.until or not told.is_closing or under_way:
        end = min(sent + ROWS_TOGETHER, told.until)
        if end > sent and len(under_way) < UNDER_WAY_MAX:
            # Time lost while nothing could be published is not made up for: the pace is steady.
            due_ms = max(due_ms + int((end - sent) * 1000 / rate), CLOCK.monotonic_ms())
            under_way.append(_published(client, list(orders.rows(sent, end))))
            sent = end
            time.sleep(max(0, due_ms - CLOCK.monotonic_ms()) / 1000)
        elif under_way:
            acked += len(under_way.popleft().results())
            say(acked=acked)
        else:
            time.sleep(_PAUSE_S)
    return acked


def _published(client: Client, rows: list[Row]) -> SyncPublishing:
    return client.publish_batch(
        TOPIC,
        [
            riverlog.NewRecord(
                row.value, row.key, timestamp_ms=row.arrival_ms, partition=row.partition
            )
            for row in rows
        ],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
