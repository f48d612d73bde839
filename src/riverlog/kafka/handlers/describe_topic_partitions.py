"""DescribeTopicPartitions v0.

* Topics come by name, as many partitions as the client takes (2,000 at most); where there are
  more, the cursor tells which is next.
* A cursor that lies outside the topics asked for is INVALID_REQUEST for each of them.
* This broker leads every partition; there are no other replicas that could be eligible.
"""

from riverlog.broker.internal_topics import INTERNAL_TOPICS
from riverlog.cluster.topics import TopicCreated, check_name
from riverlog.kafka.apis import Context
from riverlog.kafka.authorized_operations import ALL_OF_TOPIC, NOT_ASKED
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from riverlog.protocol.schema import ZERO_UUID

PARTITIONS_MAX = 2_000


def handle(
    request: DescribeTopicPartitionsRequest, context: Context
) -> DescribeTopicPartitionsResponse:
    cursor = request.cursor
    asked = {topic.name for topic in request.topics}
    names = asked or {topic.name for topic in context.broker.topics}
    if cursor is not None:
        if cursor.partition_index < 0 or (asked and cursor.topic_name not in asked):
            refused = [_missing(name, ErrorCode.INVALID_REQUEST) for name in sorted(asked)]
            return DescribeTopicPartitionsResponse(topics=refused)
        names = {name for name in names if name >= cursor.topic_name}
    left = max(1, min(request.response_partition_limit, PARTITIONS_MAX))
    results: list[DescribeTopicPartitionsResponseTopic] = []
    for name in sorted(names):
        if left == 0:
            return _part(results, name, 0)
        try:
            check_name(name)
            topic = context.broker.topic(name)
        except ANSWERABLE as error:
            results.append(_missing(name, code_of(error), operations=ALL_OF_TOPIC))
            continue
        first = cursor.partition_index if cursor is not None and name == cursor.topic_name else 0
        end = min(topic.partition_count, first + left)
        results.append(_found(topic, range(first, end), context))
        if end < topic.partition_count:
            return _part(results, name, end)
        left -= max(0, end - first)
    return DescribeTopicPartitionsResponse(topics=results)


def _part(
    results: list[DescribeTopicPartitionsResponseTopic], name: str, index: int
) -> DescribeTopicPartitionsResponse:
    cursor = Cursor(topic_name=name, partition_index=index)
    return DescribeTopicPartitionsResponse(topics=results, next_cursor=cursor)


def _found(
    topic: TopicCreated, indexes: range, context: Context
) -> DescribeTopicPartitionsResponseTopic:
    broker = context.broker
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=index,
                leader_id=broker.node_id,
                leader_epoch=broker.leader_epoch,
                replica_nodes=[broker.node_id],
                isr_nodes=[broker.node_id],
                eligible_leader_replicas=[],
                last_known_elr=[],
                offline_replicas=[],
            )
            for index in indexes
        ],
        topic_authorized_operations=ALL_OF_TOPIC,
    )


def _missing(
    name: str, error: ErrorCode, operations: int = NOT_ASKED
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=error,
        name=name,
        topic_id=ZERO_UUID,
        partitions=[],
        topic_authorized_operations=operations,
    )
