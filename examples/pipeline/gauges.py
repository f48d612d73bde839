"""How the stream is doing: rows in and out, lag, micro-batches, and what happened when."""

from typing import Any, NamedTuple

from examples.pipeline.orders import TOPIC

from riverlog.client.errors import ClientError, UnknownGroup
from riverlog.client.sync_client import Client
from riverlog.runtime.clock import Clock

WINDOWS_GROUP = "pipeline-windows"
NOTICES_GROUP = "pipeline-notices"
RATE_MS = 5000
_ANSWER_MS_MAX = 1000


class Sample(NamedTuple):
    """The stream at a moment: rows that are durable, rows that both queries are done with."""

    at_s: float
    acked: int
    read: int
    lag: int


class MicroBatch(NamedTuple):
    """One micro-batch of a query, when it was done."""

    at_s: float
    query: str
    number: int
    rows: int
    duration_ms: int


class Event(NamedTuple):
    """Something that the plots mark: what was killed, or is back."""

    at_s: float
    what: str


class Gauges:
    """Everything that was seen, in order; times count from when this was made."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._start_ms = clock.monotonic_ms()
        self.acked = 0
        self.samples: list[Sample] = []
        self.micro_batches: list[MicroBatch] = []
        self.events: list[Event] = []

    @property
    def now_s(self) -> float:
        """Seconds since the beginning."""
        return (self._clock.monotonic_ms() - self._start_ms) / 1000

    @property
    def read(self) -> int:
        """Rows that both queries are done with."""
        return self.samples[-1].read if self.samples else 0

    @property
    def lag(self) -> int | None:
        """Rows that the slower query has yet to read, None if nobody knows yet."""
        return self.samples[-1].lag if self.samples else None

    def has_read(self, rows: int) -> bool:
        """Whether so many rows are durable, and both queries are done with all there is."""
        return self.lag == 0 and self.samples[-1].acked >= rows

    def happened(self, what: str) -> None:
        """Notes an event."""
        self.events.append(Event(self.now_s, what))

    def hear(self, fact: dict[str, Any]) -> None:  # whatever a program's JSON says
        """Takes what the producer or the driver has said."""
        self.acked = fact.get("acked", self.acked)
        if "query" in fact:
            batch = MicroBatch(
                self.now_s, fact["query"], fact["batch"], fact["rows"], fact["duration_ms"]
            )
            seen = [(each.query, each.number) for each in self.micro_batches[-4:]]
            if (batch.query, batch.number) not in seen:
                self.micro_batches.append(batch)

    def look(self) -> None:
        """Asks the broker how far the groups are; while it is away there is nothing to add."""
        try:
            ends = sum(self._client.topics.offsets(TOPIC, timeout_ms=_ANSWER_MS_MAX).values())
            read = min(self._committed(WINDOWS_GROUP), self._committed(NOTICES_GROUP))
        except ClientError:
            return
        self.samples.append(Sample(self.now_s, self.acked, read, max(0, ends - read)))

    def rates(self) -> tuple[float, float]:
        """Rows a second that came in and that were read, lately."""
        recent = [each for each in self.samples if each.at_s > self.now_s - RATE_MS / 1000]
        if len(recent) < 2:
            return 0.0, 0.0
        first, last = recent[0], recent[-1]
        elapsed_s = max(last.at_s - first.at_s, 0.001)
        return (last.acked - first.acked) / elapsed_s, (last.read - first.read) / elapsed_s

    def _committed(self, group: str) -> int:
        try:
            found = self._client.groups.progress(group, timeout_ms=_ANSWER_MS_MAX)
        except UnknownGroup:
            return 0
        return sum(each.committed or 0 for each in found)
