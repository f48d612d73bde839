"""OffsetFetch (key 9), versions 1 to 10."""

from collections.abc import Sequence

from riverlog.protocol.schema import (
    ZERO_UUID,
    array,
    boolean,
    int16,
    int32,
    int64,
    message,
    string,
    struct,
    uuid,
)


@struct
class OffsetFetchRequestTopic:
    name: str = string("0-7", default="")
    partition_indexes: Sequence[int] = array(int32, "0-7", default=())


@struct
class OffsetFetchRequestTopics:
    name: str = string("8-9", default="")
    topic_id: bytes = uuid("10+", default=ZERO_UUID)
    partition_indexes: Sequence[int] = array(int32, "8+", default=())


@struct
class OffsetFetchRequestGroup:
    group_id: str = string("8+", default="")
    member_id: str | None = string("9+", nullable="9+", default=None)
    member_epoch: int = int32("9+", default=-1)
    topics: Sequence[OffsetFetchRequestTopics] | None = array(
        OffsetFetchRequestTopics, "8+", nullable="8+", default=()
    )


@message(key=9, versions="1-10", flexible="6+")
class OffsetFetchRequest:
    group_id: str = string("0-7", default="")
    topics: Sequence[OffsetFetchRequestTopic] | None = array(
        OffsetFetchRequestTopic, "0-7", nullable="2-7", default=()
    )
    groups: Sequence[OffsetFetchRequestGroup] = array(OffsetFetchRequestGroup, "8+", default=())
    require_stable: bool = boolean("7+", default=False)


@struct
class OffsetFetchResponsePartition:
    partition_index: int = int32("0-7", default=0)
    committed_offset: int = int64("0-7", default=0)
    committed_leader_epoch: int = int32("5-7", default=-1)
    metadata: str | None = string("0-7", nullable="0-7", default="")
    error_code: int = int16("0-7", default=0)


@struct
class OffsetFetchResponseTopic:
    name: str = string("0-7", default="")
    partitions: Sequence[OffsetFetchResponsePartition] = array(
        OffsetFetchResponsePartition, "0-7", default=()
    )


@struct
class OffsetFetchResponsePartitions:
    partition_index: int = int32("8+", default=0)
    committed_offset: int = int64("8+", default=0)
    committed_leader_epoch: int = int32("8+", default=-1)
    metadata: str | None = string("8+", nullable="8+", default="")
    error_code: int = int16("8+", default=0)


@struct
class OffsetFetchResponseTopics:
    name: str = string("8-9", default="")
    topic_id: bytes = uuid("10+", default=ZERO_UUID)
    partitions: Sequence[OffsetFetchResponsePartitions] = array(
        OffsetFetchResponsePartitions, "8+", default=()
    )


@struct
class OffsetFetchResponseGroup:
    group_id: str = string("8+", default="")
    topics: Sequence[OffsetFetchResponseTopics] = array(OffsetFetchResponseTopics, "8+", default=())
    error_code: int = int16("8+", default=0)


@message(key=9, versions="1-10", flexible="6+")
class OffsetFetchResponse:
    throttle_time_ms: int = int32("3+", default=0)
    topics: Sequence[OffsetFetchResponseTopic] = array(OffsetFetchResponseTopic, "0-7", default=())
    error_code: int = int16("2-7", default=0)
    groups: Sequence[OffsetFetchResponseGroup] = array(OffsetFetchResponseGroup, "8+", default=())
