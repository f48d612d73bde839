"""Fetch (key 1), versions 4 to 18."""

from collections.abc import Sequence

from riverlog.protocol.schema import (
    ZERO_UUID,
    array,
    int8,
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
class ReplicaState:
    replica_id: int = int32("15+", default=-1)
    replica_epoch: int = int64("15+", default=-1)


@struct
class FetchPartition:
    partition: int = int32()
    current_leader_epoch: int = int32("9+", default=-1)
    fetch_offset: int = int64()
    last_fetched_epoch: int = int32("12+", default=-1)
    log_start_offset: int = int64("5+", default=-1)
    partition_max_bytes: int = int32()
    replica_directory_id: bytes = uuid("17+", default=ZERO_UUID, tag=0)
    high_watermark: int = int64("18+", default=2**63 - 1, tag=1)


@struct
class FetchTopic:
    topic: str = string("0-12", default="")
    topic_id: bytes = uuid("13+", default=ZERO_UUID)
    partitions: Sequence[FetchPartition] = array(FetchPartition)


@struct
class ForgottenTopic:
    topic: str = string("7-12", default="")
    topic_id: bytes = uuid("13+", default=ZERO_UUID)
    partitions: Sequence[int] = array(int32, "7+", default=())


@message(key=1, versions="4-18", flexible="12+")
class FetchRequest:
    cluster_id: str | None = string("12+", nullable="12+", default=None, tag=0)
    replica_id: int = int32("0-14", default=-1)
    replica_state: ReplicaState | None = structure(ReplicaState, "15+", default=None, tag=1)
    max_wait_ms: int = int32()
    min_bytes: int = int32()
    max_bytes: int = int32(default=2**31 - 1)
    isolation_level: int = int8(default=0)
    session_id: int = int32("7+", default=0)
    session_epoch: int = int32("7+", default=-1)
    topics: Sequence[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: Sequence[ForgottenTopic] = array(ForgottenTopic, "7+", default=())
    rack_id: str = string("11+", default="")


@struct
class EpochEndOffset:
    epoch: int = int32("12+", default=-1)
    end_offset: int = int64("12+", default=-1)


@struct
class LeaderIdAndEpoch:
    leader_id: int = int32("12+", default=-1)
    leader_epoch: int = int32("12+", default=-1)


@struct
class SnapshotId:
    end_offset: int = int64(default=-1)
    epoch: int = int32(default=-1)


@struct
class AbortedTransaction:
    producer_id: int = int64()
    first_offset: int = int64()


@struct
class PartitionData:
    partition_index: int = int32()
    error_code: int = int16(default=0)
    high_watermark: int = int64()
    last_stable_offset: int = int64(default=-1)
    log_start_offset: int = int64("5+", default=-1)
    diverging_epoch: EpochEndOffset | None = structure(EpochEndOffset, "12+", default=None, tag=0)
    current_leader: LeaderIdAndEpoch | None = structure(
        LeaderIdAndEpoch, "12+", default=None, tag=1
    )
    snapshot_id: SnapshotId | None = structure(SnapshotId, "12+", default=None, tag=2)
    aborted_transactions: Sequence[AbortedTransaction] | None = array(
        AbortedTransaction, nullable="0+"
    )
    preferred_read_replica: int = int32("11+", default=-1)
    records: Buffer | None = records(nullable="0+")


@struct
class FetchableTopicResponse:
    topic: str = string("0-12", default="")
    topic_id: bytes = uuid("13+", default=ZERO_UUID)
    partitions: Sequence[PartitionData] = array(PartitionData)


@struct
class NodeEndpoint:
    node_id: int = int32("16+", default=0)
    host: str = string("16+", default="")
    port: int = int32("16+", default=0)
    rack: str | None = string("16+", nullable="16+", default=None)


@message(key=1, versions="4-18", flexible="12+")
class FetchResponse:
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16("7+", default=0)
    session_id: int = int32("7+", default=0)
    responses: Sequence[FetchableTopicResponse] = array(FetchableTopicResponse)
    node_endpoints: Sequence[NodeEndpoint] = array(NodeEndpoint, "16+", default=(), tag=0)
