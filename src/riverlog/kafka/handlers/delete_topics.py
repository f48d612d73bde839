"""DeleteTopics v1-6.

* That a topic has ended is durable before the reply says so; one failure hinders no other.
* v5 adds an error message; v6 lets clients name topics by id, and tells both.
* The timeout is not looked at: a reply comes as soon as the disk has answered.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping

from riverlog.cluster.topics import TopicCreated
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import ANSWERABLE, InvalidRequest, code_of, message_of
from riverlog.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from riverlog.protocol.schema import ZERO_UUID


async def handle(request: DeleteTopicsRequest, context: Context) -> DeleteTopicsResponse:
    topics = context.broker.topics
    asked = list(request.topics) or [DeleteTopicState(name=name) for name in request.topic_names]
    mentions = Counter(
        topic.topic_id
        for state in asked
        for topic in (topics.by_id(state.topic_id), topics.by_name(state.name or ""))
        if topic is not None
    )
    found = [_find(state, mentions, context) for state in asked]
    # At the same time, so that all of them share the same syncs.
    ended = await asyncio.gather(
        *(
            _delete(state, topic, context)
            for state, topic in zip(asked, found, strict=True)
            if isinstance(topic, TopicCreated)
        )
    )
    results = iter(ended)
    return DeleteTopicsResponse(
        responses=[next(results) if isinstance(each, TopicCreated) else each for each in found]
    )


def _find(
    state: DeleteTopicState, mentions: Mapping[bytes, int], context: Context
) -> TopicCreated | DeletableTopicResult:
    """The topic that is to be deleted, or why none is."""
    try:
        topic = _look_up(state, context)
        if mentions[topic.topic_id] > 1:
            raise InvalidRequest(f"the request names topic '{topic.name}' more than once")
    except ANSWERABLE as error:
        return _refused(state, error)
    return topic


async def _delete(
    state: DeleteTopicState, topic: TopicCreated, context: Context
) -> DeletableTopicResult:
    try:
        await context.broker.delete_topic(topic.topic_id)
    except ANSWERABLE as error:
        return _refused(state, error)
    return DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)


def _refused(state: DeleteTopicState, error: Exception) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=state.name,
        topic_id=state.topic_id,
        error_code=code_of(error),
        error_message=message_of(error),
    )


def _look_up(state: DeleteTopicState, context: Context) -> TopicCreated:
    has_id = state.topic_id != ZERO_UUID
    if has_id and state.name is not None:
        raise InvalidRequest("a topic is named or its id is given, not both")
    if has_id:
        return context.broker.topic_by_id(state.topic_id)
    if state.name is None:
        raise InvalidRequest("a topic has neither a name nor an id")
    return context.broker.topic(state.name)
