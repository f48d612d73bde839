"""CreateTopics v2-7.

* A topic is durable before the reply says that it exists; one topic's failure hinders no other.
* There is one broker, so the replication factor is 1, or -1 for that, and a manual assignment
  names this broker alone. A larger factor is refused with INVALID_REPLICATION_FACTOR, as Kafka
  does with one broker: who asks for three copies counts on losing two machines.
* v5 adds what a topic came out as, with all of its settings. v7 adds the topic id, which is zero
  when the request was only checked.
* One request makes 10,000 partitions at most, as with Kafka; POLICY_VIOLATION for all of it.
* The timeout is not looked at: a reply comes as soon as the disk has answered.
"""

import asyncio
from collections import Counter

from riverlog.broker.configs_in_effect import in_effect
from riverlog.broker.errors import InvalidConfig
from riverlog.cluster.topics import InvalidPartitionCount
from riverlog.kafka.apis import Context
from riverlog.kafka.config_entries import SOURCES
from riverlog.kafka.errors import (
    ANSWERABLE,
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
    InvalidRequest,
    code_of,
    message_of,
)
from riverlog.kafka.placement import ADDED_MAX, check_replicas, too_many
from riverlog.log.settings import LogSettings
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

# The settings in replies, by those that topics of a request have of their own.
Told = dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]]


async def handle(request: CreateTopicsRequest, context: Context) -> CreateTopicsResponse:
    asked = list(request.topics)
    mentions = Counter(topic.name for topic in asked)
    repeated = [
        _refused(name, InvalidRequest("Duplicate topic name."))
        for name, count in mentions.items()
        if count > 1
    ]
    topics = [topic for topic in asked if mentions[topic.name] == 1]
    if sum(max(_wanted_count(topic, context), 0) for topic in topics) > ADDED_MAX:
        excess = too_many()
        return CreateTopicsResponse(
            topics=[*(_refused(topic.name, excess) for topic in topics), *repeated]
        )
    # At the same time, so that all of them share the same syncs.
    told: Told = {}
    results = await asyncio.gather(
        *(_create(topic, request.validate_only, told, context) for topic in topics)
    )
    return CreateTopicsResponse(topics=[*results, *repeated])


async def _create(
    topic: CreatableTopic, validate_only: bool, told: Told, context: Context
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
        configs=_all_configs(configs, told, broker.defaults),
    )


def _all_configs(
    configs: dict[str, str], told: Told, defaults: LogSettings
) -> list[CreatableTopicConfigs]:
    """What is told of the settings: the same for all topics of a request that have the same."""
    key = frozenset(configs.items())
    if key not in told:
        told[key] = [
            CreatableTopicConfigs(
                name=config.name, value=config.value, config_source=SOURCES[config.source]
            )
            for config in in_effect(configs, defaults)
        ]
    return told[key]


def _refused(name: str, error: Exception) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name, error_code=code_of(error), error_message=message_of(error)
    )


def _wanted_count(topic: CreatableTopic, context: Context) -> int:
    """How many partitions the topic would have, whether or not it can be made."""
    if topic.assignments:
        return len(topic.assignments)
    if topic.num_partitions == _DEFAULT:
        return context.broker.settings.num_partitions
    return topic.num_partitions


def _partition_count(topic: CreatableTopic, context: Context) -> int:
    """How many partitions the topic is to have, if it can be placed on this broker."""
    if topic.assignments:
        if topic.num_partitions != _DEFAULT:
            raise InvalidRequest(
                "A manual partition assignment was specified, but numPartitions was not set to -1."
            )
        if topic.replication_factor != _DEFAULT:
            raise InvalidRequest(
                "A manual partition assignment was specified, but replication factor was not set "
                "to -1."
            )
        return _assigned_count(list(topic.assignments), context.broker.node_id)
    factor = topic.replication_factor
    if factor > _REPLICATION_FACTOR:
        raise InvalidReplicationFactor(
            f"Unable to replicate the partition {factor} time(s): The target replication factor "
            f"of {factor} cannot be reached because only 1 broker(s) are registered."
        )
    if factor not in (_DEFAULT, _REPLICATION_FACTOR):
        raise InvalidReplicationFactor(
            "Replication factor must be larger than 0, or -1 to use the default value."
        )
    count = _wanted_count(topic, context)
    if count < 1:
        raise InvalidPartitionCount(
            "Number of partitions was set to an invalid non-positive value."
        )
    return count


def _assigned_count(assignments: list[CreatableReplicaAssignment], node_id: int) -> int:
    for assignment in assignments:
        check_replicas(list(assignment.broker_ids), node_id)
    if sorted(a.partition_index for a in assignments) != list(range(len(assignments))):
        raise InvalidReplicaAssignment(
            "partitions should be a consecutive 0-based integer sequence"
        )
    return len(assignments)


def _configs(topic: CreatableTopic) -> dict[str, str]:
    configs = {}
    for config in topic.configs:
        if config.value is None:
            raise InvalidConfig(f"Null value not supported for topic configs: {config.name}")
        configs[config.name] = config.value
    return configs
