"""Where a subscription takes its records from, and how it was asked for them."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, TypedDict

from riverlog.client.offsets import Place
from riverlog.client.received import ReceivedRecord


class Rebalance(NamedTuple):
    """A member of a group got partitions of a topic, or lost those it had."""

    topic: str
    assigned: tuple[int, ...] = ()
    revoked: tuple[int, ...] = ()


OnRebalance = Callable[[Rebalance], Awaitable[object] | object]


class ReadingOptions(TypedDict, total=False):
    """How to read a topic.

    Attributes:
        start: "earliest", "latest" (what is published from now on, the default), an offset, a
            negative number for the last so many of each partition, an offset for each
            partition, or an aware time.
        partitions: Those to read; all of them if not given.
        until: "end" stops at what is there now, a time before the first record of that time.
        count: Stops after so many records.
        timeout_ms: Stops when no record came for so long.
        outage_ms_max: Raises `Unreachable` when no broker answered for so long; without it a
            subscription waits for the brokers to come back, however long that takes.
        group: Shares the topic with the other members of this consumer group, and goes on where
            the group left off; `start` is for partitions it has not read yet. What was read
            counts as done when the next record is asked for. No `partitions` and `until` then.
        on_rebalance: Called with a `Rebalance` when a member gets or loses partitions.
        session_timeout_ms: `session.timeout.ms`. A member that is silent for so long is dropped
            from its group; 10 s unless given.
        processing_ms_max: `max.poll.interval.ms`. A member that works on one record for longer
            is taken for stuck and dropped from its group; 5 minutes unless given.
    """

    start: Place
    partitions: list[int] | None
    until: Literal["end"] | datetime | None
    count: int | None
    timeout_ms: int | None
    outage_ms_max: int | None
    group: str | None
    on_rebalance: OnRebalance | None
    session_timeout_ms: int
    processing_ms_max: int


class Source(Protocol):
    """What a subscription reads from: partitions on one's own, or those a group gives."""

    @property
    def is_stale(self) -> bool:
        """Whether records given and not yet taken are no longer this one's to take."""

    async def open(self) -> None:
        """Returns when the place to begin is fixed: what is published after it will be read."""

    async def chunk(self) -> list[ReceivedRecord] | Rebalance:
        """The next records, at least one, or a change that comes before them; empty at the end.

        Raises what keeps it from reading on.
        """

    def finished(self, record: ReceivedRecord) -> None:
        """Whoever took the record is done with it; may be said from any thread."""

    async def close(self) -> None:
        """Reads no more; may be called twice."""
