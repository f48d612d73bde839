"""DescribeProducers (key 61), version 0."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, int32, int64, message, string, struct


@struct
class TopicRequest:
    name: str = string()
    partition_indexes: Sequence[int] = array(int32)


@message(key=61, versions="0", flexible="0+")
class DescribeProducersRequest:
    topics: Sequence[TopicRequest] = array(TopicRequest)


@struct
class ProducerState:
    producer_id: int = int64()
    producer_epoch: int = int32()
    last_sequence: int = int32(default=-1)
    last_timestamp: int = int64(default=-1)
    coordinator_epoch: int = int32()
    current_txn_start_offset: int = int64(default=-1)


@struct
class PartitionResponse:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    error_message: str | None = string(nullable="0+", default=None)
    active_producers: Sequence[ProducerState] = array(ProducerState)


@struct
class TopicResponse:
    name: str = string()
    partitions: Sequence[PartitionResponse] = array(PartitionResponse)


@message(key=61, versions="0", flexible="0+")
class DescribeProducersResponse:
    throttle_time_ms: int = int32(default=0)
    topics: Sequence[TopicResponse] = array(TopicResponse)
