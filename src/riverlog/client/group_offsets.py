"""How far a group has read: what it commits, and where it goes on."""

from collections.abc import Mapping

from riverlog.client.coordinator import Coordinator, Membership
from riverlog.client.waiting import Deadline
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)


async def commit(
    coordinator: Coordinator,
    membership: Membership,
    topic: str,
    offsets: Mapping[int, int],
    deadline: Deadline,
) -> None:
    """The group goes on from these offsets, durably; raises as the coordinator's calls do."""
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=""
        )
        for partition, offset in offsets.items()
    ]
    request = OffsetCommitRequest(
        group_id=coordinator.group,
        generation_id_or_member_epoch=membership.generation,
        member_id=membership.member_id,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
    )
    response = await coordinator.ask(request, OffsetCommitResponse, deadline)
    for answered in response.topics:
        for partition in answered.partitions:
            coordinator.check(partition.error_code)


async def committed(
    coordinator: Coordinator, wanted: Mapping[str, list[int]] | None, deadline: Deadline
) -> dict[str, dict[int, int]]:
    """Where the group goes on in these partitions, or in all, of those it has read from."""
    # The fields of older and of newer versions; only one kind of them is sent.
    request = OffsetFetchRequest(
        group_id=coordinator.group,
        topics=None
        if wanted is None
        else [
            OffsetFetchRequestTopic(name=topic, partition_indexes=partitions)
            for topic, partitions in wanted.items()
        ],
        groups=[
            OffsetFetchRequestGroup(
                group_id=coordinator.group,
                topics=None
                if wanted is None
                else [
                    OffsetFetchRequestTopics(name=topic, partition_indexes=partitions)
                    for topic, partitions in wanted.items()
                ],
            )
        ],
    )
    response = await coordinator.ask(request, OffsetFetchResponse, deadline)
    coordinator.check(response.error_code)
    answers = [
        (topic.name, each.partition_index, each.committed_offset, each.error_code)
        for topic in response.topics
        for each in topic.partitions
    ]
    for group in response.groups:
        coordinator.check(group.error_code)
        answers += [
            (topic.name, each.partition_index, each.committed_offset, each.error_code)
            for topic in group.topics
            for each in topic.partitions
        ]
    found: dict[str, dict[int, int]] = {}
    for topic_name, index, offset, code in answers:
        coordinator.check(code)
        if offset >= 0:
            found.setdefault(topic_name, {})[index] = offset
    return found
