"""OffsetDelete (key 47), version 0."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, int32, message, string, struct


@struct
class OffsetDeleteRequestPartition:
    partition_index: int = int32()


@struct
class OffsetDeleteRequestTopic:
    name: str = string()
    partitions: Sequence[OffsetDeleteRequestPartition] = array(OffsetDeleteRequestPartition)


@message(key=47, versions="0", flexible="none")
class OffsetDeleteRequest:
    group_id: str = string()
    topics: Sequence[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic)


@struct
class OffsetDeleteResponsePartition:
    partition_index: int = int32()
    error_code: int = int16(default=0)


@struct
class OffsetDeleteResponseTopic:
    name: str = string()
    partitions: Sequence[OffsetDeleteResponsePartition] = array(OffsetDeleteResponsePartition)


@message(key=47, versions="0", flexible="none")
class OffsetDeleteResponse:
    error_code: int = int16(default=0)
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[OffsetDeleteResponseTopic] = array(OffsetDeleteResponseTopic)
