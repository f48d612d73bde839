"""DescribeTopicPartitions (key 75), version 0."""

from collections.abc import Sequence

from riverlog.protocol.schema import (
    array,
    boolean,
    int16,
    int32,
    message,
    string,
    struct,
    structure,
    uuid,
)


@struct
class TopicRequest:
    name: str = string()


@struct
class Cursor:
    topic_name: str = string()
    partition_index: int = int32()


@message(key=75, versions="0", flexible="0+")
class DescribeTopicPartitionsRequest:
    topics: Sequence[TopicRequest] = array(TopicRequest)
    response_partition_limit: int = int32(default=2000)
    cursor: Cursor | None = structure(Cursor, nullable="0+", default=None)


@struct
class DescribeTopicPartitionsResponsePartition:
    error_code: int = int16(default=0)
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32(default=-1)
    replica_nodes: Sequence[int] = array(int32)
    isr_nodes: Sequence[int] = array(int32)
    eligible_leader_replicas: Sequence[int] | None = array(int32, nullable="0+", default=None)
    last_known_elr: Sequence[int] | None = array(int32, nullable="0+", default=None)
    offline_replicas: Sequence[int] = array(int32)


@struct
class DescribeTopicPartitionsResponseTopic:
    error_code: int = int16(default=0)
    name: str | None = string(nullable="0+")
    topic_id: bytes = uuid()
    is_internal: bool = boolean(default=False)
    partitions: Sequence[DescribeTopicPartitionsResponsePartition] = array(
        DescribeTopicPartitionsResponsePartition
    )
    topic_authorized_operations: int = int32(default=-(2**31))


@message(key=75, versions="0", flexible="0+")
class DescribeTopicPartitionsResponse:
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[DescribeTopicPartitionsResponseTopic] = array(
        DescribeTopicPartitionsResponseTopic
    )
    next_cursor: Cursor | None = structure(Cursor, nullable="0+", default=None)
