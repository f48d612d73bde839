"""Fetch v4-18.

* Batches come whole and unopened; a batch is returned for every partition that has one as long as
  there is room, and the first one always, however large.
* Only durable records are returned: the high watermark is what has been synced, and without
  transactions the last stable offset equals it.
* v7 adds sessions (`kafka/fetch_sessions.py`); v13 and later name topics by id.
* v12 adds the epoch last read in: who read further in it than it goes is told where it ended.
* A topic that ends while a client waits for it is answered at once, as unknown.
* Followers do not fetch here: a request with a replica id is answered like a consumer's, and the
  high watermark that v18 lets them tell is not looked at.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from riverlog.kafka.apis import Answer, Context, Handler
from riverlog.kafka.epoch_ends import end_of
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.kafka.fetch_sessions import FetchSessions, Wanted, refusal
from riverlog.kafka.later import Parked
from riverlog.kafka.parking import park
from riverlog.log.epochs import NO_EPOCH
from riverlog.log.errors import OffsetOutOfRange
from riverlog.log.partition import Partition
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    EpochEndOffset,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from riverlog.protocol.wire import Buffer
from riverlog.runtime.chance import new_session_id

READ_COMMITTED = 1
TOPIC_IDS_FROM = 13
_UNKNOWN = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)


class Asked(NamedTuple):
    """One partition of a request, and its log or the reason why there is none."""

    wanted: Wanted
    log: Partition | None
    error: ErrorCode


_Reply = Callable[[Sequence[PartitionData]], FetchResponse]


Learn = Callable[[FetchRequest, Partition, int], None]


def handler(sessions: FetchSessions, learn: Learn | None = None) -> Handler:
    """Answers with sessions of its own. `learn` is told of requests for one partition that there
    is, with the version: they are likely to come again."""

    def handle(request: FetchRequest, context: Context) -> Answer:
        broker = context.broker
        uses_ids = context.version >= TOPIC_IDS_FROM
        now_ms = broker.clock.monotonic_ms()
        fetch = sessions.begin(request, uses_ids=uses_ids, now_ms=now_ms)
        if isinstance(fetch, ErrorCode):
            return refusal(fetch)

        def reply(answers: Sequence[PartitionData]) -> FetchResponse:
            return sessions.reply(
                fetch,
                answers,
                now_ms=broker.clock.monotonic_ms(),
                new_id=lambda: new_session_id(broker.chance),
            )

        asked = [_look_up(wanted, context) for wanted in fetch.wanted]
        checks = _begin_checks(asked)
        if checks:
            return _check_and_wait(request, asked, reply, context, checks)
        if learn is not None and len(asked) == 1 and (log := asked[0].log) is not None:
            learn(request, log, context.version)
        return _answer_or_wait(request, asked, reply, context)

    return handle


def _begin_checks(asked: list[Asked]) -> list[asyncio.Future[None]]:
    """Segments that were not read since the start are checked first, out of the loop's way."""
    checks = []
    for one in asked:
        if one.log is not None and one.log.has_unchecked:
            try:
                check = one.log.make_ready(one.wanted.offset)
            except OSError:
                continue  # The read itself will say so.
            if check is not None:
                checks.append(check)
    return checks


async def _check_and_wait(
    request: FetchRequest,
    asked: list[Asked],
    reply: _Reply,
    context: Context,
    checks: list[asyncio.Future[None]],
) -> FetchResponse | Parked:
    await asyncio.gather(*checks, return_exceptions=True)
    return _answer_or_wait(request, asked, reply, context)


def _answer_or_wait(
    request: FetchRequest, asked: list[Asked], reply: _Reply, context: Context
) -> FetchResponse | Parked:
    answers, is_enough = _read(request, asked, context)
    if is_enough or request.max_wait_ms <= 0:
        return reply(answers)
    return _wait(request, asked, reply, context)


def _look_up(wanted: Wanted, context: Context) -> Asked:
    broker, key = context.broker, wanted.topic
    try:
        topic = broker.topic_by_id(key) if isinstance(key, bytes) else broker.topic(key)
        log = broker.led_partition(topic, wanted.index, wanted.leader_epoch)
    except ANSWERABLE as error:
        return Asked(wanted, None, code_of(error))
    return Asked(wanted, log, ErrorCode.NONE)


def _read(
    request: FetchRequest, asked: list[Asked], context: Context
) -> tuple[list[PartitionData], bool]:
    """What there is now, and whether it is enough to answer."""
    left = room = min(request.max_bytes, context.fetch_bytes_max())
    found_bytes = 0
    has_news = False
    answers = []
    for one in asked:
        bytes_max = min(one.wanted.bytes_max, left)
        # The first batch may exceed every limit, or a consumer would never get past it.
        answer = read_partition(request, one, bytes_max if found_bytes else max(bytes_max, 1))
        if answer.records is not None:
            found_bytes += len(answer.records)
            left -= len(answer.records)
        has_news |= answer.error_code != ErrorCode.NONE or answer.diverging_epoch is not None
        answers.append(answer)
    # More than half of the room is taken: the next batch may not have fitted.
    is_enough = found_bytes >= request.min_bytes or found_bytes > room // 2
    return answers, has_news or is_enough or not asked


def read_partition(request: FetchRequest, asked: Asked, bytes_max: int) -> PartitionData:
    """What there is of one partition, at most so much of it, or why there is nothing."""
    log, wanted = asked.log, asked.wanted
    if log is None:
        return _failed(wanted.index, asked.error)
    if log.is_closed:
        is_by_id = isinstance(wanted.topic, bytes)
        code = ErrorCode.UNKNOWN_TOPIC_ID if is_by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _failed(wanted.index, code)
    records: Buffer = b""
    try:
        diverging = _diverging(log, wanted) if wanted.read_epoch >= 0 else None
        if diverging is None and bytes_max > 0:
            records = log.read(wanted.offset, bytes_max)
    except ANSWERABLE as error:
        return _failed(wanted.index, code_of(error))
    is_told_of_aborted = request.isolation_level == READ_COMMITTED and diverging is None
    return PartitionData(
        partition_index=wanted.index,
        high_watermark=log.high_watermark,
        last_stable_offset=log.high_watermark,
        log_start_offset=log.log_start_offset,
        diverging_epoch=diverging,
        aborted_transactions=[] if is_told_of_aborted else None,
        records=records,
    )


def _diverging(log: Partition, wanted: Wanted) -> EpochEndOffset | None:
    """Where the epoch that a client last read in ended, if that is before what it read."""
    epoch, end_offset = end_of(log, wanted.read_epoch)
    if epoch == NO_EPOCH or wanted.offset < log.log_start_offset:
        raise OffsetOutOfRange(f"epoch {wanted.read_epoch} or offset {wanted.offset} is not here")
    if epoch < wanted.read_epoch or end_offset < wanted.offset:
        return EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return None


def _failed(index: int, code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=[] if code in _UNKNOWN else None,
        records=b"",
    )


def _wait(request: FetchRequest, asked: list[Asked], reply: _Reply, context: Context) -> Parked:
    """Answers when enough has arrived, the time is up, or the broker stops."""

    def look(is_late: bool) -> FetchResponse | None:
        answers, is_enough = _read(request, asked, context)
        if is_enough or is_late or context.broker.is_stopping:
            return reply(answers)
        return None

    logs = {one.log for one in asked if one.log is not None}
    return park(logs, request.max_wait_ms, look)
