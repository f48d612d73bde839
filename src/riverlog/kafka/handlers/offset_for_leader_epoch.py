"""OffsetForLeaderEpoch v2-4.

* Tells where an epoch ended: the offset a consumer that read in it may have reached at most. The
  newest one ends at the high watermark.
* An epoch of which no record is left ends where the next one begins, so that a consumer which
  found a partition empty is not told that it lost something. One that is yet to come has no end.
* v3 adds a replica id, which is not looked at.
"""

from riverlog.kafka.apis import Context
from riverlog.kafka.epoch_ends import end_of
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


def handle(request: OffsetForLeaderEpochRequest, context: Context) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_answer(topic.topic, asked, context) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _answer(name: str, asked: OffsetForLeaderPartition, context: Context) -> EpochEndOffset:
    broker = context.broker
    try:
        topic = broker.topic(name)
        log = broker.led_partition(topic, asked.partition, asked.current_leader_epoch)
    except ANSWERABLE as error:
        return EpochEndOffset(partition=asked.partition, error_code=code_of(error))
    epoch, end_offset = end_of(log, asked.leader_epoch)
    return EpochEndOffset(partition=asked.partition, leader_epoch=epoch, end_offset=end_offset)
