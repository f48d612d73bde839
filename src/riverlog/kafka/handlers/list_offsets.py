"""ListOffsets v1-11.

* Only durable records are looked at: the latest offset is the high watermark at either isolation
  level, as there are no transactions. What was acknowledged before it was durable (acks=1) is
  waited for, so that everyone finds what they have written.
* A time is answered with the earliest record at or after it, exactly; with -1 if there is none.
* -1 is the latest offset and -2 the earliest; -3 (v7) the record with the largest timestamp; -4
  (v8) the earliest on this machine, where all of them are; -5 (v9) the latest in tiered storage,
  and -6 (v11) the earliest that is to go there, where none is. Other negative times are
  UNSUPPORTED_VERSION.
* The replica id and the timeout (v10) are not looked at.
"""

import asyncio
from collections import Counter
from enum import IntEnum

from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.kafka.settling import settle, unsettled
from riverlog.log.epochs import NO_EPOCH
from riverlog.log.partition import Partition
from riverlog.log.reading import Timed
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

_NOT_SAID = -1


class _Time(IntEnum):
    """The times that stand for something else."""

    LATEST = -1
    EARLIEST = -2
    LARGEST_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING = -6


_FIRST_VERSIONS: dict[int, int] = {
    _Time.LATEST: 1,
    _Time.EARLIEST: 1,
    _Time.LARGEST_TIMESTAMP: 7,
    _Time.EARLIEST_LOCAL: 8,
    _Time.LATEST_TIERED: 9,
    _Time.EARLIEST_PENDING: 11,
}
_NEVER = 2**15


def handle(request: ListOffsetsRequest, context: Context) -> Answer:
    waiting = unsettled(context.broker, request.topics)
    return _answer_after(waiting, request, context) if waiting else _answer_all(request, context)


async def _answer_after(
    waiting: list[asyncio.Future[None]], request: ListOffsetsRequest, context: Context
) -> ListOffsetsResponse:
    await settle(waiting)
    return _answer_all(request, context)


def _answer_all(request: ListOffsetsRequest, context: Context) -> ListOffsetsResponse:
    topics = [(topic.name, list(topic.partitions)) for topic in request.topics]
    mentions = Counter((name, asked.partition_index) for name, all_ in topics for asked in all_)
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=name,
                partitions=[
                    _refused(asked, ErrorCode.INVALID_REQUEST)
                    if mentions[name, asked.partition_index] > 1
                    else _answer(name, asked, context)
                    for asked in partitions
                ],
            )
            for name, partitions in topics
        ]
    )


def _answer(
    name: str, asked: ListOffsetsPartition, context: Context
) -> ListOffsetsPartitionResponse:
    broker = context.broker
    if asked.timestamp < 0 and context.version < _FIRST_VERSIONS.get(asked.timestamp, _NEVER):
        return _refused(asked, ErrorCode.UNSUPPORTED_VERSION)
    try:
        topic = broker.topic(name)
        log = broker.led_partition(topic, asked.partition_index, asked.current_leader_epoch)
        found = _find(log, asked.timestamp)
    except ANSWERABLE as error:
        return _refused(asked, code_of(error))
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        timestamp=found.timestamp_ms,
        offset=found.offset,
        leader_epoch=found.leader_epoch,
    )


def _find(log: Partition, time_ms: int) -> Timed:
    found: Timed | None = None
    match time_ms:
        case _Time.LATEST:
            found = Timed(_NOT_SAID, log.high_watermark, log.leader_epoch)
        case _Time.EARLIEST | _Time.EARLIEST_LOCAL:
            # The epoch that wrote the first record; without any, the one that will.
            epoch = log.epochs.at(log.log_start_offset)
            epoch = log.leader_epoch if epoch == NO_EPOCH else epoch
            found = Timed(_NOT_SAID, log.log_start_offset, epoch)
        case _Time.LARGEST_TIMESTAMP:
            found = log.latest_in_time()
        case time if time >= 0:
            found = log.first_at_or_after(time)
    return found or Timed(_NOT_SAID, -1, -1)


def _refused(asked: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)
