"""Which of a log's oldest segments have had their time. Pure.

Kafka's rules, and three of our own. The clock may be wrong, and what it says cannot be undone: by
time one segment goes in a pass, and only as many more as have become due since the clock has been
seen to run evenly. No record is newer than its arrival, so a time in the
future does not keep a segment for ever. And segments can be counted. As with Kafka, a record that
comes with a time long past goes as soon as its segment does: `message.timestamp.before.max.ms`
refuses such.
"""

from collections.abc import Sequence
from typing import NamedTuple

from riverlog.log.settings import LogSettings

NO_LIMIT = -1
NEVER_MS = 2**63 - 1


class Held(NamedTuple):
    """A segment as retention sees it. Times are -1 where nobody knows; both may be wrong."""

    next_offset: int
    size_bytes: int
    max_timestamp_ms: int
    last_append_ms: int

    @property
    def newest_ms(self) -> int:
        """When its newest record was written: by its own time, but not after it arrived."""
        if self.max_timestamp_ms < 0 or self.last_append_ms < 0:
            return max(self.max_timestamp_ms, self.last_append_ms)
        return min(self.max_timestamp_ms, self.last_append_ms)


def count_due(
    segments: Sequence[Held],
    settings: LogSettings,
    now_ms: int,
    log_start_offset: int,
    high_watermark: int,
    even_since_ms: int = NEVER_MS,
) -> int:
    """How many of `segments`, the oldest first, have to go now.

    Since `even_since_ms` the clock has run evenly: what became due after that is no jump of it.
    The last one is that being written; if it has to go, it is closed first. An empty one stays,
    and so does everything from the first segment on that is not durable to its end.
    """
    free = _free(segments, high_watermark)
    gone = 0
    while gone < free and segments[gone].next_offset <= log_start_offset:
        gone += 1
    if not settings.deletes:
        return gone
    due_ms = [due_by_time_ms(segment, settings) for segment in segments[gone:free]]
    allowed = 1 + sum(even_since_ms <= time_ms < now_ms for time_ms in due_ms)
    for time_ms in due_ms[:allowed]:
        if time_ms >= now_ms:
            break
        gone += 1
    left_bytes = sum(segment.size_bytes for segment in segments[gone:])
    while gone < free:
        left_bytes -= segments[gone].size_bytes
        if not is_too_much(len(segments) - gone, left_bytes, settings):
            break
        gone += 1
    return gone


def due_by_time_ms(segment: Held, settings: LogSettings) -> int:
    """The last moment at which a segment still is young enough to stay."""
    if settings.retention_ms < 0 or segment.newest_ms < 0:
        return NEVER_MS
    return segment.newest_ms + settings.retention_ms


def is_too_much(count: int, rest_bytes: int, settings: LogSettings) -> bool:
    """Whether the first of `count` segments has to go; without it there are `rest_bytes`."""
    if NO_LIMIT < settings.retention_segments < count:
        return True
    # As Kafka has it: what stays is never less than the limit.
    return NO_LIMIT < settings.retention_bytes <= rest_bytes


def _free(segments: Sequence[Held], high_watermark: int) -> int:
    """How many segments, from the oldest on, may go at all."""
    count = len(segments)
    if segments and not segments[-1].size_bytes:
        count -= 1
    for number, segment in enumerate(segments[:count]):
        if segment.next_offset > high_watermark:
            return number
    return count
