"""CreateTopics (key 19), versions 2 to 7."""

from collections.abc import Sequence

from riverlog.protocol.schema import (
    ZERO_UUID,
    array,
    boolean,
    int8,
    int16,
    int32,
    message,
    string,
    struct,
    uuid,
)


@struct
class CreatableReplicaAssignment:
    partition_index: int = int32()
    broker_ids: Sequence[int] = array(int32)


@struct
class CreatableTopicConfig:
    name: str = string()
    value: str | None = string(nullable="0+")


@struct
class CreatableTopic:
    name: str = string()
    num_partitions: int = int32()
    replication_factor: int = int16()
    assignments: Sequence[CreatableReplicaAssignment] = array(CreatableReplicaAssignment)
    configs: Sequence[CreatableTopicConfig] = array(CreatableTopicConfig)


@message(key=19, versions="2-7", flexible="5+")
class CreateTopicsRequest:
    topics: Sequence[CreatableTopic] = array(CreatableTopic)
    timeout_ms: int = int32(default=60000)
    validate_only: bool = boolean(default=False)


@struct
class CreatableTopicConfigs:
    name: str = string("5+", default="")
    value: str | None = string("5+", nullable="5+", default="")
    read_only: bool = boolean("5+", default=False)
    config_source: int = int8("5+", default=-1)
    is_sensitive: bool = boolean("5+", default=False)


@struct
class CreatableTopicResult:
    name: str = string()
    topic_id: bytes = uuid("7+", default=ZERO_UUID)
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    topic_config_error_code: int = int16("5+", default=0, tag=0)
    num_partitions: int = int32("5+", default=-1)
    replication_factor: int = int16("5+", default=-1)
    configs: Sequence[CreatableTopicConfigs] | None = array(
        CreatableTopicConfigs, "5+", nullable="5+", default=()
    )


@message(key=19, versions="2-7", flexible="5+")
class CreateTopicsResponse:
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[CreatableTopicResult] = array(CreatableTopicResult)
