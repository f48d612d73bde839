"""OffsetFetch v1-10.

* Only what is durable is told. A partition without an offset, also one of a group that nobody
  knows, is answered with -1 and no error.
* Who names a group, a topic or a partition twice is told of it once: a reply is no larger than what
  was committed.
* v2 and later ask for all offsets of a group with null; v8 asks for several groups at once; v10
  names topics by id.
* require_stable (v7) changes nothing: there are no transactions. The member that asks (v9) is not
  looked at, as for Kafka's classic groups. We never throttle.
"""

from collections.abc import Iterable, Mapping
from itertools import chain, groupby
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
    OffsetFetchRequestTopic,
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
# Partitions by the name and the id of their topic, each once, in the order of asking.
Asked = dict[tuple[str, bytes], dict[int, None]]


def handle(request: OffsetFetchRequest, context: Context) -> OffsetFetchResponse:
    if context.version >= _GROUPS_FROM:
        asked = _by_group(request.groups)
        return OffsetFetchResponse(groups=[_group(*each, context) for each in asked.items()])
    code = ErrorCode.NONE
    offsets: Offsets = {}
    try:
        offsets = context.broker.coordinator.offsets(request.group_id)
    except GroupError as error:
        code = code_of(error)
    topics = _all(offsets) if request.topics is None else _once(request.topics)
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
            for (name, _), indexes in topics.items()
        ],
    )


def _by_group(groups: Iterable[OffsetFetchRequestGroup]) -> dict[str, Asked | None]:
    """What is asked of each group; None for all there is."""
    topics_by_group: dict[str, list[Iterable[OffsetFetchRequestTopics]]] = {}
    whole = set()
    for group in groups:
        topics = topics_by_group.setdefault(group.group_id, [])
        if group.topics is None:
            whole.add(group.group_id)
        else:
            topics.append(group.topics)
    return {
        group_id: None if group_id in whole else _once(chain.from_iterable(topics))
        for group_id, topics in topics_by_group.items()
    }


def _group(group_id: str, asked: Asked | None, context: Context) -> OffsetFetchResponseGroup:
    try:
        offsets = context.broker.coordinator.offsets(group_id)
    except GroupError as error:
        return OffsetFetchResponseGroup(group_id=group_id, error_code=code_of(error))
    topics = _all(offsets) if asked is None else asked
    found = [
        _topic(name, topic_id, indexes, asked is None, offsets, context)
        for (name, topic_id), indexes in topics.items()
    ]
    return OffsetFetchResponseGroup(
        group_id=group_id, topics=[topic for topic in found if topic is not None]
    )


def _topic(
    name: str,
    topic_id: bytes,
    indexes: Iterable[int],
    is_all: bool,
    offsets: Offsets,
    context: Context,
) -> OffsetFetchResponseTopics | None:
    """None for a topic without an id, which v10 has no way to tell of."""
    topics = context.broker.topics
    code = ErrorCode.NONE
    if context.version >= _BY_ID_FROM:
        topic = topics.by_name(name) if is_all else topics.by_id(topic_id)
        if topic is not None:
            name, topic_id = topic.name, topic.topic_id
        elif is_all:
            return None
        else:
            code = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic_id = ZERO_UUID
    return OffsetFetchResponseTopics(
        name=name,
        topic_id=topic_id,
        partitions=[
            _partition(OffsetFetchResponsePartitions, name, index, offsets, code)
            for index in indexes
        ],
    )


def _all(offsets: Offsets) -> Asked:
    return {
        (name, ZERO_UUID): dict.fromkeys(index for _, index in places)
        for name, places in groupby(sorted(offsets), key=lambda place: place[0])
    }


def _once(topics: Iterable[OffsetFetchRequestTopic | OffsetFetchRequestTopics]) -> Asked:
    found: Asked = {}
    for topic in topics:
        topic_id = topic.topic_id if isinstance(topic, OffsetFetchRequestTopics) else ZERO_UUID
        indexes = found.setdefault((topic.name, topic_id), {})
        indexes.update(dict.fromkeys(topic.partition_indexes))
    return found


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
