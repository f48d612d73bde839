"""Metadata (key 3), versions 0 to 13."""

from collections.abc import Sequence

from riverlog.protocol.schema import (
    ZERO_UUID,
    array,
    boolean,
    int16,
    int32,
    message,
    string,
    struct,
    uuid,
)


@struct
class MetadataRequestTopic:
    topic_id: bytes = uuid("10+", default=ZERO_UUID)
    name: str | None = string(nullable="10+")


@message(key=3, versions="0-13", flexible="9+")
class MetadataRequest:
    topics: Sequence[MetadataRequestTopic] | None = array(MetadataRequestTopic, nullable="1+")
    allow_auto_topic_creation: bool = boolean("4+", default=True)
    include_cluster_authorized_operations: bool = boolean("8-10", default=False)
    include_topic_authorized_operations: bool = boolean("8+", default=False)


@struct
class MetadataResponseBroker:
    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string("1+", nullable="1+", default=None)


@struct
class MetadataResponsePartition:
    error_code: int = int16(default=0)
    partition_index: int = int32()
    leader_id: int = int32()
    leader_epoch: int = int32("7+", default=-1)
    replica_nodes: Sequence[int] = array(int32)
    isr_nodes: Sequence[int] = array(int32)
    offline_replicas: Sequence[int] = array(int32, "5+", default=())


@struct
class MetadataResponseTopic:
    error_code: int = int16(default=0)
    name: str | None = string(nullable="12+")
    topic_id: bytes = uuid("10+", default=ZERO_UUID)
    is_internal: bool = boolean("1+", default=False)
    partitions: Sequence[MetadataResponsePartition] = array(MetadataResponsePartition)
    topic_authorized_operations: int = int32("8+", default=-(2**31))


@message(key=3, versions="0-13", flexible="9+")
class MetadataResponse:
    throttle_time_ms: int = int32("3+", default=0)
    brokers: Sequence[MetadataResponseBroker] = array(MetadataResponseBroker)
    cluster_id: str | None = string("2+", nullable="2+", default=None)
    controller_id: int = int32("1+", default=-1)
    topics: Sequence[MetadataResponseTopic] = array(MetadataResponseTopic)
    cluster_authorized_operations: int = int32("8-10", default=-(2**31))
    error_code: int = int16("13+", default=0)
