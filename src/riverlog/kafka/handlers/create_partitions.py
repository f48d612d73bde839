"""CreatePartitions v0-3.

* That a topic has more partitions is durable before the reply; one failure hinders no other.
* There is one broker: a manual assignment names it alone, once for each new partition.
* The broker's own topics keep their number, on which it rests where they keep what; Kafka lets one
  change it.
* The timeout is not looked at: a reply comes as soon as the disk has answered.
"""

import asyncio
from collections import Counter

from riverlog.cluster.topics import NoSuchTopic
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import (
    ANSWERABLE,
    InvalidReplicaAssignment,
    InvalidRequest,
    code_of,
    message_of,
)
from riverlog.kafka.placement import check_replicas
from riverlog.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


async def handle(request: CreatePartitionsRequest, context: Context) -> CreatePartitionsResponse:
    topics = list(request.topics)
    mentions = Counter(topic.name for topic in topics)
    repeated = [
        _refused(name, InvalidRequest("Duplicate topic name."))
        for name, count in mentions.items()
        if count > 1
    ]
    # At the same time, so that all of them share the same syncs.
    results = await asyncio.gather(
        *(
            _grow(topic, request.validate_only, context)
            for topic in topics
            if mentions[topic.name] == 1
        )
    )
    return CreatePartitionsResponse(results=[*repeated, *results])


async def _grow(
    topic: CreatePartitionsTopic, only_check: bool, context: Context
) -> CreatePartitionsTopicResult:
    broker = context.broker
    try:
        await broker.changes.add_partitions(topic.name, topic.count, only_check=True)
        if topic.assignments is not None:
            added = topic.count - broker.topic(topic.name).partition_count
            if len(topic.assignments) != added:
                raise InvalidReplicaAssignment(
                    f"Attempted to add {added} additional partition(s), but only "
                    f"{len(topic.assignments)} assignment(s) were specified."
                )
            for assignment in topic.assignments:
                check_replicas(list(assignment.broker_ids), broker.node_id)
        if not only_check:
            await broker.changes.add_partitions(topic.name, topic.count)
    except ANSWERABLE as error:
        return _refused(topic.name, error)
    return CreatePartitionsTopicResult(name=topic.name)


def _refused(name: str, error: Exception) -> CreatePartitionsTopicResult:
    message = None if isinstance(error, NoSuchTopic) else message_of(error)
    return CreatePartitionsTopicResult(name=name, error_code=code_of(error), error_message=message)
