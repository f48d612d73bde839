"""DescribeTransactions (key 65), version 0."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, int32, int64, message, string, struct


@message(key=65, versions="0", flexible="0+")
class DescribeTransactionsRequest:
    transactional_ids: Sequence[str] = array(string)


@struct
class TopicData:
    topic: str = string()
    partitions: Sequence[int] = array(int32)


@struct
class TransactionState:
    error_code: int = int16(default=0)
    transactional_id: str = string()
    transaction_state: str = string()
    transaction_timeout_ms: int = int32()
    transaction_start_time_ms: int = int64()
    producer_id: int = int64()
    producer_epoch: int = int16()
    topics: Sequence[TopicData] = array(TopicData)


@message(key=65, versions="0", flexible="0+")
class DescribeTransactionsResponse:
    throttle_time_ms: int = int32(default=0)
    transaction_states: Sequence[TransactionState] = array(TransactionState)
