"""DeleteRecords v0-2.

* Where a partition begins is durable before the reply says so; one failure hinders no other. -1
  stands for the high watermark; a partition that begins later already stays as it is.
* OFFSET_OUT_OF_RANGE beyond the high watermark; POLICY_VIOLATION for topics that are only
  compacted; INVALID_TOPIC_EXCEPTION for the broker's own.
* What takes longer than the timeout goes on, and is answered with REQUEST_TIMED_OUT.
* Files go later, when whole segments lie before the start.
"""

import asyncio

from riverlog.broker.record_deletion import delete_records
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.kafka.settling import settle, unsettled
from riverlog.log.partition import Partition
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

_UNKNOWN = -1

# A partition and, while it is under way, its deletion; or what is wrong.
_Begun = tuple[Partition, asyncio.Future[None] | None] | ErrorCode


async def handle(request: DeleteRecordsRequest, context: Context) -> DeleteRecordsResponse:
    # What somebody was told is written may be deleted, and -1 stands for all of it.
    if waiting := unsettled(context.broker, request.topics):
        await settle(waiting)
    # All of them are begun before any is waited for.
    topics = [
        (topic.name, [(asked, _begin(topic.name, asked, context)) for asked in topic.partitions])
        for topic in request.topics
    ]
    begun = [one for _, partitions in topics for _, one in partitions]
    under_way = [one[1] for one in begun if isinstance(one, tuple) and one[1] is not None]
    if under_way:
        await asyncio.wait(under_way, timeout=max(request.timeout_ms, 0) / 1000)
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=name,
                partitions=[_result(asked.partition_index, one) for asked, one in partitions],
            )
            for name, partitions in topics
        ]
    )


def _begin(name: str, asked: DeleteRecordsPartition, context: Context) -> _Begun:
    try:
        return delete_records(context.broker, name, asked.partition_index, asked.offset)
    except ANSWERABLE as error:
        return code_of(error)


def _result(index: int, begun: _Begun) -> DeleteRecordsPartitionResult:
    if isinstance(begun, ErrorCode):
        return _failed(index, begun)
    partition, deleted = begun
    if deleted is not None and not deleted.done():
        # Nobody will ask how it ended.
        deleted.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return _failed(index, ErrorCode.REQUEST_TIMED_OUT)
    error = None if deleted is None else deleted.exception()
    if error is not None:
        return _failed(index, code_of(error))
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=partition.log_start_offset
    )


def _failed(index: int, code: ErrorCode) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=index, low_watermark=_UNKNOWN, error_code=code
    )
