"""What a broker keeps besides records, asked for and set one thing at a time."""

import time
from collections.abc import Iterable

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from riverlog.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from riverlog.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
)
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from tests.conformance.clients.raw_connection import RawConnection
from tests.crash_real.waiting import WAIT_S_MAX

TOPIC = 2
SET = 0
EARLIEST = -2
NONE_COMMITTED = -1
# What a group is answered for as long as its coordinator is not ready.
NOT_YET = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}


def topics(connection: RawConnection) -> dict[str, MetadataResponseTopic]:
    """All topics but the broker's own, by name."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    found = connection.ask(request, 12, MetadataResponse).topics
    return {topic.name: topic for topic in found if topic.name and not topic.is_internal}


def configs(connection: RawConnection, names: Iterable[str], config: str) -> dict[str, str | None]:
    """One config of each of these topics."""
    resources = [
        DescribeConfigsResource(
            resource_type=TOPIC, resource_name=name, configuration_keys=[config]
        )
        for name in names
    ]
    request = DescribeConfigsRequest(resources=resources)
    results = connection.ask(request, 4, DescribeConfigsResponse).results
    return {result.resource_name: result.configs[0].value for result in results}


def set_config(connection: RawConnection, topic: str, config: str, value: str) -> ErrorCode:
    """Gives a topic's config another value."""
    change = AlterableConfig(name=config, config_operation=SET, value=value)
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=[change])
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    (result,) = connection.ask(request, 1, IncrementalAlterConfigsResponse).responses
    return ErrorCode(result.error_code)


def commit(connection: RawConnection, group: str, topic: str, offsets: list[int]) -> set[ErrorCode]:
    """Commits an offset for each partition of a topic, for a group without members."""
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=""
        )
        for index, offset in enumerate(offsets)
    ]
    request = OffsetCommitRequest(
        group_id=group,
        member_id="",
        topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
    )
    (answer,) = connection.ask(request, 8, OffsetCommitResponse).topics
    return {ErrorCode(partition.error_code) for partition in answer.partitions}


def committed(connection: RawConnection, group: str) -> dict[tuple[str, int], int]:
    """What a group has committed, by topic and partition."""
    request = OffsetFetchRequest(group_id=group, topics=None)
    deadline = time.monotonic() + WAIT_S_MAX
    while True:
        answer = connection.ask(request, 7, OffsetFetchResponse)
        if answer.error_code not in NOT_YET or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code)
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in answer.topics
        for partition in topic.partitions
        if partition.committed_offset != NONE_COMMITTED
    }


def start_offset(connection: RawConnection, topic: str, partition: int = 0) -> int:
    """Where a partition begins."""
    wanted = ListOffsetsPartition(partition_index=partition, timestamp=EARLIEST)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[wanted])]
    )
    (answer,) = connection.ask(request, 5, ListOffsetsResponse).topics
    assert answer.partitions[0].error_code == ErrorCode.NONE
    return answer.partitions[0].offset


def delete_records(
    connection: RawConnection, topic: str, before_offset: int
) -> tuple[ErrorCode, int]:
    """Has partition 0 begin later; gives where it begins then."""
    wanted = DeleteRecordsPartition(partition_index=0, offset=before_offset)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[wanted])], timeout_ms=10_000
    )
    (answer,) = connection.ask(request, 2, DeleteRecordsResponse).topics
    return ErrorCode(answer.partitions[0].error_code), answer.partitions[0].low_watermark
