"""OffsetForLeaderEpoch v2-4.

* Tells where an epoch ended: the offset a consumer that read in it may have reached at most. The
  newest one ends at the high watermark.
* An epoch of which no record is left ends where the next one begins, so that a consumer which
  found a partition empty is not told that it lost something. One that is yet to come has no end.
* v3 adds a replica id, which is not looked at.
"""

from riverlog.kafka.apis import Context
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.log.epochs import NO_EPOCH
from riverlog.log.partition import Partition
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
    epoch, end_offset = _end_of(log, asked.leader_epoch)
    return EpochEndOffset(partition=asked.partition, leader_epoch=epoch, end_offset=end_offset)


def _end_of(log: Partition, epoch: int) -> tuple[int, int]:
    if not 0 <= epoch <= log.leader_epoch:
        return NO_EPOCH, -1
    found = log.epochs.end_of(epoch, log.high_watermark)
    if found[0] == NO_EPOCH:
        return epoch, next((start for _, start in log.epochs), log.high_watermark)
    return found
