"""CreatePartitions v0-3.

* That a topic has more partitions is durable before the reply; one failure hinders no other.
* There is one broker: a manual assignment names it alone, once for each new partition.
* The broker's own topics keep their number, on which it rests where they keep what; Kafka lets one
  change it.
* One request adds 10,000 partitions at most, as with Kafka: a topic that would go beyond is refused
  with POLICY_VIOLATION, where Kafka says UNKNOWN_SERVER_ERROR.
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
from riverlog.kafka.placement import ADDED_MAX, check_replicas, too_many
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
    room = _Room()
    # At the same time, so that all of them share the same syncs.
    results = await asyncio.gather(
        *(
            _grow(topic, request.validate_only, room, context)
            for topic in topics
            if mentions[topic.name] == 1
        )
    )
    return CreatePartitionsResponse(results=[*repeated, *results])


class _Room:
    """How many partitions a request may still add."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = ADDED_MAX

    def take(self, count: int) -> None:
        if count > self._left:
            raise too_many()
        self._left -= count


async def _grow(
    topic: CreatePartitionsTopic, only_check: bool, room: _Room, context: Context
) -> CreatePartitionsTopicResult:
    broker = context.broker
    try:
        added = await broker.changes.add_partitions(topic.name, topic.count, only_check=True)
        if topic.assignments is not None:
            if len(topic.assignments) != added:
                raise InvalidReplicaAssignment(
                    f"Attempted to add {added} additional partition(s), but only "
                    f"{len(topic.assignments)} assignment(s) were specified."
                )
            for assignment in topic.assignments:
                check_replicas(list(assignment.broker_ids), broker.node_id)
        room.take(added)
        if not only_check:
            await broker.changes.add_partitions(topic.name, topic.count)
    except ANSWERABLE as error:
        return _refused(topic.name, error)
    return CreatePartitionsTopicResult(name=topic.name)


def _refused(name: str, error: Exception) -> CreatePartitionsTopicResult:
    message = None if isinstance(error, NoSuchTopic) else message_of(error)
    return CreatePartitionsTopicResult(name=name, error_code=code_of(error), error_message=message)
