"""OffsetFetch v1-10.

* Only what is durable is told. A partition without an offset, also one of a group that nobody
  knows, is answered with -1 and no error.
* v2 and later ask for all offsets of a group with null; v8 asks for several groups at once; v10
  names topics by id.
* require_stable (v7) changes nothing: there are no transactions. The member that asks (v9) is not
  looked at, as for Kafka's classic groups. We never throttle.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from riverlog.groups.errors import GroupError
from riverlog.groups.facts import OffsetCommitted
from riverlog.groups.group import Place
from riverlog.kafka.apis import Context
from riverlog.kafka.errors import code_of
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from riverlog.protocol.schema import ZERO_UUID

_GROUPS_FROM = 8
_BY_ID_FROM = 10
_TOP_LEVEL_ERROR_FROM = 2

Offsets = Mapping[Place, OffsetCommitted]


def handle(request: OffsetFetchRequest, context: Context) -> OffsetFetchResponse:
    if context.version >= _GROUPS_FROM:
        return OffsetFetchResponse(groups=[_group(each, context) for each in request.groups])
    asked: Iterable[tuple[str, Sequence[int]]] | None = None
    if request.topics is not None:
        asked = [(topic.name, list(topic.partition_indexes)) for topic in request.topics]
    code = ErrorCode.NONE
    offsets: Offsets = {}
    try:
        offsets = context.broker.coordinator.offsets(request.group_id)
    except GroupError as error:
        code = code_of(error)
    return OffsetFetchResponse(
        error_code=code,
        topics=[
            OffsetFetchResponseTopic(
                name=name,
                partitions=[
                    _partition(OffsetFetchResponsePartition, name, index, offsets, code)
                    for index in indexes
                ],
            )
            for name, indexes in (_all(offsets) if asked is None else asked)
        ],
    )


def _group(asked: OffsetFetchRequestGroup, context: Context) -> OffsetFetchResponseGroup:
    try:
        offsets = context.broker.coordinator.offsets(asked.group_id)
    except GroupError as error:
        return OffsetFetchResponseGroup(group_id=asked.group_id, error_code=code_of(error))
    if asked.topics is None:
        topics = [
            OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
            for name, indexes in _all(offsets)
        ]
    else:
        topics = list(asked.topics)
    found = [_topic(topic, asked.topics is None, offsets, context) for topic in topics]
    return OffsetFetchResponseGroup(
        group_id=asked.group_id, topics=[topic for topic in found if topic is not None]
    )


def _topic(
    asked: OffsetFetchRequestTopics, is_all: bool, offsets: Offsets, context: Context
) -> OffsetFetchResponseTopics | None:
    """None for a topic without an id, which v10 has no way to tell of."""
    topics = context.broker.topics
    code = ErrorCode.NONE
    name, topic_id = asked.name, asked.topic_id
    if context.version >= _BY_ID_FROM:
        topic = topics.by_name(name) if is_all else topics.by_id(topic_id)
        if topic is not None:
            name, topic_id = topic.name, topic.topic_id
        elif is_all:
            return None
        else:
            code, topic_id = ErrorCode.UNKNOWN_TOPIC_ID, asked.topic_id
    else:
        topic_id = ZERO_UUID
    return OffsetFetchResponseTopics(
        name=name,
        topic_id=topic_id,
        partitions=[
            _partition(OffsetFetchResponsePartitions, name, index, offsets, code)
            for index in asked.partition_indexes
        ],
    )


def _all(offsets: Offsets) -> list[tuple[str, Sequence[int]]]:
    return [
        (name, [index for _, index in places])
        for name, places in groupby(sorted(offsets), key=lambda place: place[0])
    ]


_NONE = OffsetCommitted("", -1, -1, -1, "", -1)


P = TypeVar("P", OffsetFetchResponsePartition, OffsetFetchResponsePartitions)


def _partition(table: type[P], name: str, index: int, offsets: Offsets, code: ErrorCode) -> P:
    found = offsets.get((name, index), _NONE) if code == ErrorCode.NONE else _NONE
    return table(
        partition_index=index,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
        error_code=code,
    )
