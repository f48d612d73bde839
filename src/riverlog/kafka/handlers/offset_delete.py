"""OffsetDelete v0.

* Offsets of topics that members of the group read stay: GROUP_SUBSCRIBED_TO_TOPIC. A group of
  another kind than consumers must have no members: NON_EMPTY_GROUP.
* What is deleted is durably so before the reply. We never throttle.
"""

from riverlog.broker.errors import UnknownTopic
from riverlog.groups.errors import GroupError
from riverlog.groups.group import Place
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import code_of
from riverlog.kafka.later import Later
from riverlog.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle(request: OffsetDeleteRequest, context: Context) -> Answer:
    coordinator = context.broker.coordinator
    try:
        coordinator.check_forgettable(request.group_id)
    except GroupError as error:
        return OffsetDeleteResponse(error_code=code_of(error), topics=[])
    answers: dict[Place, OffsetDeleteResponsePartition] = {}
    topics = []
    for asked in request.topics:
        partitions = []
        for index in (partition.partition_index for partition in asked.partitions):
            answer = OffsetDeleteResponsePartition(partition_index=index)
            partitions.append(answer)
            try:
                _check(context, asked.name, index)
                coordinator.check_unread(request.group_id, asked.name)
            except (GroupError, UnknownTopic) as error:
                answer.error_code = code_of(error)
            else:
                answers[asked.name, index] = answer
        topics.append(OffsetDeleteResponseTopic(name=asked.name, partitions=partitions))
    later = Later()

    def written(error: GroupError | None) -> None:
        for answer in answers.values():
            answer.error_code = 0 if error is None else code_of(error)
        later.finish(OffsetDeleteResponse(topics=topics))

    coordinator.forget(request.group_id, list(answers), written)
    return later


def _check(context: Context, topic_name: str, index: int) -> None:
    if not 0 <= index < context.broker.topic(topic_name).partition_count:
        raise UnknownTopic(f"topic '{topic_name}' has no partition {index}")
