"""CreateTopics v2-7.

* A topic is durable before the reply says that it exists; one topic's failure hinders no other.
* There is one broker: the replication factor is 1 or -1, and so is every manual assignment.
* v5 adds what a topic came out as: every setting that was given, and the defaults of those that
  have an effect here. v7 adds the topic id, which is zero when the request was only checked.
* The timeout is not looked at: a reply comes as soon as the disk has answered.
"""

import asyncio
from collections import Counter

from riverlog.broker.errors import InvalidConfig
from riverlog.cluster.topics import InvalidPartitionCount
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import (
    ANSWERABLE,
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
    InvalidRequest,
    code_of,
)
from riverlog.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from riverlog.protocol.schema import ZERO_UUID

_DEFAULT = -1
_REPLICATION_FACTOR = 1
_SET_FOR_TOPIC = 1
_SET_BY_DEFAULT = 5


async def handle(request: CreateTopicsRequest, context: Context) -> CreateTopicsResponse:
    topics = list(request.topics)
    mentions = Counter(topic.name for topic in topics)
    results = [
        _create(topic, request.validate_only, context)
        for topic in topics
        if mentions[topic.name] == 1
    ]
    repeated = [
        _refused(name, InvalidRequest(f"the request names topic '{name}' more than once"))
        for name, count in mentions.items()
        if count > 1
    ]
    # At the same time, so that all of them share the same syncs.
    return CreateTopicsResponse(topics=[*await asyncio.gather(*results), *repeated])


async def _create(
    topic: CreatableTopic, validate_only: bool, context: Context
) -> CreatableTopicResult:
    broker = context.broker
    topic_id = ZERO_UUID
    try:
        count = _partition_count(topic, context)
        configs = _configs(topic)
        if validate_only:
            broker.check_topic(topic.name, count, configs)
        else:
            topic_id = (await broker.create_topic(topic.name, count, configs)).topic_id
    except ANSWERABLE as error:
        return _refused(topic.name, error)
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic_id,
        num_partitions=count,
        replication_factor=_REPLICATION_FACTOR,
        configs=[
            CreatableTopicConfigs(
                name=name,
                value=value,
                config_source=_SET_BY_DEFAULT if is_default else _SET_FOR_TOPIC,
            )
            for name, value, is_default in broker.configs_in_effect(configs)
        ],
    )


def _refused(name: str, error: Exception) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code_of(error), error_message=str(error))


def _partition_count(topic: CreatableTopic, context: Context) -> int:
    """How many partitions the topic is to have, if it can be placed on this broker."""
    if topic.assignments:
        if topic.num_partitions != _DEFAULT or topic.replication_factor != _DEFAULT:
            raise InvalidRequest(
                "with a manual assignment, the numbers of partitions and replicas must be -1"
            )
        return _assigned_count(list(topic.assignments), context.broker.node_id)
    factor = topic.replication_factor
    if factor > 1:
        raise InvalidReplicationFactor(
            f"Unable to replicate the partition {factor} time(s): The target replication factor "
            f"of {factor} cannot be reached because only 1 broker(s) are registered."
        )
    if factor not in (_DEFAULT, _REPLICATION_FACTOR):
        raise InvalidReplicationFactor(f"the replication factor is 1, or -1 for that, not {factor}")
    if topic.num_partitions == _DEFAULT:
        return context.broker.settings.num_partitions
    if topic.num_partitions < 1:
        raise InvalidPartitionCount(
            f"the number of partitions is positive, or -1 for the default, not "
            f"{topic.num_partitions}"
        )
    return topic.num_partitions


def _assigned_count(assignments: list[CreatableReplicaAssignment], node_id: int) -> int:
    if sorted(a.partition_index for a in assignments) != list(range(len(assignments))):
        raise InvalidReplicaAssignment("partitions are numbered from 0 on, each exactly once")
    for assignment in assignments:
        if list(assignment.broker_ids) != [node_id]:
            raise InvalidReplicaAssignment(
                f"partition {assignment.partition_index} is assigned to brokers "
                f"{list(assignment.broker_ids)}, but there is only broker {node_id}"
            )
    return len(assignments)


def _configs(topic: CreatableTopic) -> dict[str, str]:
    configs = {}
    for config in topic.configs:
        if config.value is None:
            raise InvalidConfig(f"setting {config.name} has no value")
        configs[config.name] = config.value
    return configs
