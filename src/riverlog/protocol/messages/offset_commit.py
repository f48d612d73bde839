"""OffsetCommit (key 8), versions 2 to 10."""

from collections.abc import Sequence

from riverlog.protocol.schema import (
    ZERO_UUID,
    array,
    int16,
    int32,
    int64,
    message,
    string,
    struct,
    uuid,
)


@struct
class OffsetCommitRequestPartition:
    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32("6+", default=-1)
    committed_metadata: str | None = string(nullable="0+")


@struct
class OffsetCommitRequestTopic:
    name: str = string("0-9", default="")
    topic_id: bytes = uuid("10+", default=ZERO_UUID)
    partitions: Sequence[OffsetCommitRequestPartition] = array(OffsetCommitRequestPartition)


@message(key=8, versions="2-10", flexible="8+")
class OffsetCommitRequest:
    group_id: str = string()
    generation_id_or_member_epoch: int = int32(default=-1)
    member_id: str = string()
    group_instance_id: str | None = string("7+", nullable="7+", default=None)
    retention_time_ms: int = int64("2-4", default=-1)
    topics: Sequence[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic)


@struct
class OffsetCommitResponsePartition:
    partition_index: int = int32()
    error_code: int = int16(default=0)


@struct
class OffsetCommitResponseTopic:
    name: str = string("0-9", default="")
    topic_id: bytes = uuid("10+", default=ZERO_UUID)
    partitions: Sequence[OffsetCommitResponsePartition] = array(OffsetCommitResponsePartition)


@message(key=8, versions="2-10", flexible="8+")
class OffsetCommitResponse:
    throttle_time_ms: int = int32("3+", default=0)
    topics: Sequence[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic)
