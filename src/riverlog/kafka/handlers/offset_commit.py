"""OffsetCommit v2-10.

* The reply comes when the offsets are durable, all of those that are accepted in one batch.
* A topic or partition that is not there, or a text that is too long, is refused on its own.
* v2-4 may ask for a time to keep the offsets for, v6 adds the leader epoch, v7 static members,
  v10 names topics by id. We never throttle.
"""

from collections.abc import Iterator

from riverlog.broker.broker import Broker
from riverlog.broker.errors import UnknownTopic, UnknownTopicId
from riverlog.cluster.topics import TopicCreated
from riverlog.groups.attending import Caller
from riverlog.groups.errors import GroupError
from riverlog.groups.facts import OffsetCommitted
from riverlog.groups.offsets import Commit
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import code_of
from riverlog.kafka.later import Later
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_BY_ID_FROM = 10


def handle(request: OffsetCommitRequest, context: Context) -> Answer:
    coordinator = context.broker.coordinator
    accepted: list[OffsetCommitted] = []
    answers: list[OffsetCommitResponsePartition] = []
    topics = []
    for asked in request.topics:
        partitions = []
        for answer, offset in _checked(request, asked, context):
            partitions.append(answer)
            if offset is not None:
                accepted.append(offset)
                answers.append(answer)
        topics.append(
            OffsetCommitResponseTopic(
                name=asked.name, topic_id=asked.topic_id, partitions=partitions
            )
        )
    response = OffsetCommitResponse(topics=topics)
    later = Later()

    def written(error: GroupError | None) -> None:
        for answer in answers:
            answer.error_code = 0 if error is None else code_of(error)
        later.finish(response)

    member = request.member_id, request.group_instance_id
    caller = Caller(*member, request.generation_id_or_member_epoch)
    try:
        coordinator.commit(request.group_id, Commit(caller, accepted), written)
    except GroupError as error:
        written(error)
    return later


def _checked(
    request: OffsetCommitRequest, asked: OffsetCommitRequestTopic, context: Context
) -> Iterator[tuple[OffsetCommitResponsePartition, OffsetCommitted | None]]:
    """Each partition's answer, and its offset unless that is refused already."""
    broker = context.broker
    now_ms = broker.clock.now_ms()
    kept_ms = request.retention_time_ms
    for partition in asked.partitions:
        index = partition.partition_index
        try:
            topic = _topic(broker, asked, context.version)
            if not 0 <= index < topic.partition_count:
                raise UnknownTopic(f"topic '{topic.name}' has no partition {index}")
            offset = OffsetCommitted(
                topic.name,
                index,
                partition.committed_offset,
                partition.committed_leader_epoch,
                partition.committed_metadata or "",
                now_ms,
                now_ms + kept_ms if kept_ms >= 0 else -1,
            )
            broker.coordinator.check_offset(offset)
        except (GroupError, UnknownTopic, UnknownTopicId) as error:
            code = code_of(error)
            yield OffsetCommitResponsePartition(partition_index=index, error_code=code), None
        else:
            yield OffsetCommitResponsePartition(partition_index=index), offset


def _topic(broker: Broker, asked: OffsetCommitRequestTopic, version: int) -> TopicCreated:
    return (
        broker.topic_by_id(asked.topic_id) if version >= _BY_ID_FROM else broker.topic(asked.name)
    )
