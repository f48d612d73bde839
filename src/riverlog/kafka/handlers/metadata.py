"""Metadata v0-13.

* v0 asks for all topics with an empty list, v1 and later with null.
* v10 adds topic ids in replies, v12 lets clients ask by id.
* A topic asked for by name that does not exist is made, if the broker's settings and the client
  (v4 and later; earlier ones always) allow it, and is in the same reply: durable, and led already.
* Who asks for authorized operations (v8 and later, those of the cluster until v10) hears of all:
  there is no authorization yet.
* We never throttle, and this broker leads every partition.
"""

import asyncio
from collections.abc import Sequence

from riverlog.broker.internal_topics import INTERNAL_TOPICS
from riverlog.cluster.topics import InvalidTopicName, TopicCreated, check_name
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.authorized_operations import ALL_OF_CLUSTER, ALL_OF_TOPIC, NOT_ASKED
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from riverlog.protocol.schema import ZERO_UUID


def handle(request: MetadataRequest, context: Context) -> Answer:
    broker = context.broker
    if request.topics is None or (context.version == 0 and not request.topics):
        return _response(
            [_found(topic, request, context) for topic in broker.topics], request, context
        )
    # Who names a topic twice is told of it once.
    asked = list(
        {one.topic_id if one.name is None else one.name: one for one in request.topics}.values()
    )
    if request.allow_auto_topic_creation and broker.settings.auto_create_topics:
        missing = {
            one.name for one in asked if one.name and broker.topics.by_name(one.name) is None
        }
        if missing:
            return _create_and_answer(asked, missing, request, context)
    return _response([_look_up(one, request, context) for one in asked], request, context)


async def _create_and_answer(
    asked: Sequence[MetadataRequestTopic],
    missing: set[str],
    request: MetadataRequest,
    context: Context,
) -> MetadataResponse:
    # At the same time, so that all of them share the same syncs.
    failures = await asyncio.gather(*(_create(name, context) for name in sorted(missing)))
    refused = {name: code for name, code in failures if code != ErrorCode.NONE}
    return _response(
        [
            _missing(one.name, ZERO_UUID, refused[one.name])
            if one.name in refused
            else _look_up(one, request, context)
            for one in asked
        ],
        request,
        context,
    )


async def _create(name: str, context: Context) -> tuple[str | None, ErrorCode]:
    try:
        await context.broker.ensure_topic(name)
    except ANSWERABLE as error:
        return name, code_of(error)
    return name, ErrorCode.NONE


def _response(
    topics: list[MetadataResponseTopic], request: MetadataRequest, context: Context
) -> MetadataResponse:
    broker = context.broker
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(
                node_id=broker.node_id,
                host=context.advertised.host,
                port=context.advertised.port,
            )
        ],
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        topics=topics,
        cluster_authorized_operations=ALL_OF_CLUSTER
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


def _look_up(
    asked: MetadataRequestTopic, request: MetadataRequest, context: Context
) -> MetadataResponseTopic:
    topics = context.broker.topics
    if asked.name is None:
        topic = topics.by_id(asked.topic_id)
        if topic is None:
            name = None if context.version >= 12 else ""
            return _missing(name, asked.topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
        return _found(topic, request, context)
    try:
        check_name(asked.name)
    except InvalidTopicName:
        return _missing(asked.name, ZERO_UUID, ErrorCode.INVALID_TOPIC_EXCEPTION)
    topic = topics.by_name(asked.name)
    if topic is None:
        return _missing(asked.name, ZERO_UUID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return _found(topic, request, context)


def _found(
    topic: TopicCreated, request: MetadataRequest, context: Context
) -> MetadataResponseTopic:
    broker = context.broker
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            MetadataResponsePartition(
                partition_index=index,
                leader_id=broker.node_id,
                leader_epoch=broker.leader_epoch,
                replica_nodes=[broker.node_id],
                isr_nodes=[broker.node_id],
            )
            for index in range(topic.partition_count)
        ],
        topic_authorized_operations=ALL_OF_TOPIC
        if request.include_topic_authorized_operations
        else NOT_ASKED,
    )


def _missing(name: str | None, topic_id: bytes, error: ErrorCode) -> MetadataResponseTopic:
    return MetadataResponseTopic(error_code=error, name=name, topic_id=topic_id, partitions=[])
