"""ListTransactions (key 66), versions 0 to 2."""

from collections.abc import Sequence

from riverlog.protocol.schema import array, int16, int32, int64, message, string, struct


@message(key=66, versions="0-2", flexible="0+")
class ListTransactionsRequest:
    state_filters: Sequence[str] = array(string)
    producer_id_filters: Sequence[int] = array(int64)
    duration_filter: int = int64("1+", default=-1)
    transactional_id_pattern: str | None = string("2+", nullable="2+", default=None)


@struct
class TransactionState:
    transactional_id: str = string()
    producer_id: int = int64()
    transaction_state: str = string()


@message(key=66, versions="0-2", flexible="0+")
class ListTransactionsResponse:
    throttle_time_ms: int = int32(default=0)
    error_code: int = int16(default=0)
    unknown_state_filters: Sequence[str] = array(string)
    transaction_states: Sequence[TransactionState] = array(TransactionState)
