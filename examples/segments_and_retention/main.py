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

        # Time passes. By age, a pass of retention takes one segment at most, so it takes a few.
        start = 0
        while start < 8:
            broker.advance(HOUR_MS)
            start = client.topics.offsets("events", "earliest")[0]
        print(f"after: the log begins at offset {start}")
        print(f"the next record is number {client.publish('events', 'event 8').offset}")
