"""Which batches are taken from producers.

Their headers tell, and batches stay closed, but for two things. Compacted topics need keys, so all
that is sent to them is opened. And one that is refused for its times is, to say which records are
to blame.
"""

from collections.abc import Iterator

from riverlog.broker.errors import (
    InvalidTimestamp,
    InvalidTransaction,
    KeylessRecords,
    RecordReason,
    RecordsTooLarge,
)
from riverlog.log.settings import LogSettings
from riverlog.records.batch import BatchHeader, check_produced
from riverlog.records.crc import Buffer
from riverlog.records.errors import BatchError, CorruptBatch, InvalidRecord
from riverlog.records.record import Record, iterate

OPENED_BYTES_MAX = 64 << 20
# A reply should stay small; the sender has to look at the rest of its batch anyway.
REASONS_MAX = 1_000

_NO_TIME_MS = -1


def admit(batch: Buffer, settings: LogSettings, now_ms: int) -> BatchHeader:
    """Gives the header of a batch that a topic with these settings takes.

    Raises `BatchError`, `RecordsTooLarge`, `InvalidTransaction` or `RefusedRecords` otherwise.
    """
    header = check_produced(batch)
    if header.size_bytes > settings.message_bytes_max:
        raise RecordsTooLarge(
            f"a batch of {header.size_bytes} bytes; the topic takes "
            f"{settings.message_bytes_max} at most"
        )
    if header.base_offset != 0:
        raise InvalidRecord(f"the first offset of a new batch is 0, not {header.base_offset}")
    if header.is_transactional:
        raise InvalidTransaction("transactions are not served here")
    if not settings.uses_append_time:
        latest_ms = now_ms + settings.timestamp_after_ms_max
        earliest_ms = now_ms - settings.timestamp_before_ms_max
        if header.max_timestamp_ms > latest_ms or (
            header.base_timestamp_ms < earliest_ms and header.base_timestamp_ms != _NO_TIME_MS
        ):
            raise _untimely(batch, earliest_ms, latest_ms)
    if "compact" in settings.cleanup_policy:
        _check_keys(batch)
    return header


def _check_keys(batch: Buffer) -> None:
    reasons: list[RecordReason] = []
    try:
        for position, record in _records(batch):
            if record.key is None and len(reasons) < REASONS_MAX:
                reasons.append(RecordReason(position, "a record of a compacted topic needs a key"))
    except CorruptBatch as error:
        # Its checksum was right: it came as it was sent, and would again.
        raise InvalidRecord(str(error)) from error
    if reasons:
        raise KeylessRecords("records of a compacted topic need keys", reasons)


def _untimely(batch: Buffer, earliest_ms: int, latest_ms: int) -> InvalidTimestamp:
    """Why a batch is refused whose header has times outside of these bounds."""
    reasons: list[RecordReason] = []
    try:
        for position, record in _records(batch):
            time_ms = record.timestamp_ms
            if time_ms != _NO_TIME_MS and not earliest_ms <= time_ms <= latest_ms:
                reasons.append(RecordReason(position, f"its time, {time_ms}, is out of bounds"))
                if len(reasons) == REASONS_MAX:
                    break
    except BatchError:
        reasons = []
    return InvalidTimestamp(f"times from {earliest_ms} to {latest_ms} are taken now", reasons)


def _records(batch: Buffer) -> Iterator[tuple[int, Record]]:
    return enumerate(iterate(batch, decompressed_bytes_max=OPENED_BYTES_MAX))
