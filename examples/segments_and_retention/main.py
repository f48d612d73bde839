"""A log is kept in segments; retention takes away the oldest ones, and only whole ones."""

import tempfile
from pathlib import Path

import riverlog

HOUR_MS = 3_600_000


def segments(data: str) -> list[str]:
    return sorted(path.name for path in Path(data).glob("topics/*/0/*.log"))


with tempfile.TemporaryDirectory() as data, riverlog.Broker(data=data) as broker:
    # A new segment after every three records, and records are kept for an hour.
    configs = {
        "riverlog.segment.records": "3",
        "retention.ms": str(HOUR_MS),
        "file.delete.delay.ms": "0",
    }
    broker.create_topic("events", 1, configs)
    with broker.connect() as client:
        for number in range(8):
            client.publish("events", f"event {number}")
        print("before:", ", ".join(segments(data)))

        # Time passes: a pass of retention takes at most one segment, whatever the clock says.
        broker.advance(2 * HOUR_MS)
        first = next(iter(client.subscribe("events", start="earliest", count=1)))
        print(f"after: the log begins at offset {first.offset}")
