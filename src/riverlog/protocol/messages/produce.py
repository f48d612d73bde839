"""Produce (key 0), versions 3 to 13."""

from collections.abc import Sequence

from riverlog.protocol.schema import (
    ZERO_UUID,
    array,
    int16,
    int32,
    int64,
    message,
    records,
    string,
    struct,
    structure,
    uuid,
)
from riverlog.protocol.wire import Buffer


@struct
class PartitionProduceData:
    index: int = int32()
    records: Buffer | None = records(nullable="0+")


@struct
class TopicProduceData:
    name: str = string("0-12", default="")
    topic_id: bytes = uuid("13+", default=ZERO_UUID)
    partition_data: Sequence[PartitionProduceData] = array(PartitionProduceData)


@message(key=0, versions="3-13", flexible="9+")
class ProduceRequest:
    transactional_id: str | None = string(nullable="0+", default=None)
    acks: int = int16()
    timeout_ms: int = int32()
    topic_data: Sequence[TopicProduceData] = array(TopicProduceData)


@struct
class BatchIndexAndErrorMessage:
    batch_index: int = int32("8+", default=0)
    batch_index_error_message: str | None = string("8+", nullable="8+", default=None)


@struct
class LeaderIdAndEpoch:
    leader_id: int = int32("10+", default=-1)
    leader_epoch: int = int32("10+", default=-1)


@struct
class PartitionProduceResponse:
    index: int = int32()
    error_code: int = int16(default=0)
    base_offset: int = int64()
    log_append_time_ms: int = int64(default=-1)
    log_start_offset: int = int64("5+", default=-1)
    record_errors: Sequence[BatchIndexAndErrorMessage] = array(
        BatchIndexAndErrorMessage, "8+", default=()
    )
    error_message: str | None = string("8+", nullable="8+", default=None)
    current_leader: LeaderIdAndEpoch | None = structure(
        LeaderIdAndEpoch, "10+", default=None, tag=0
    )


@struct
class TopicProduceResponse:
    name: str = string("0-12", default="")
    topic_id: bytes = uuid("13+", default=ZERO_UUID)
    partition_responses: Sequence[PartitionProduceResponse] = array(PartitionProduceResponse)


@struct
class NodeEndpoint:
    node_id: int = int32("10+", default=0)
    host: str = string("10+", default="")
    port: int = int32("10+", default=0)
    rack: str | None = string("10+", nullable="10+", default=None)


@message(key=0, versions="3-13", flexible="9+")
class ProduceResponse:
    responses: Sequence[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = int32(default=0)
    node_endpoints: Sequence[NodeEndpoint] = array(NodeEndpoint, "10+", default=(), tag=0)
