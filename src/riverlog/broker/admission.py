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
from riverlog.log.batches import Batches
from riverlog.log.settings import LogSettings
from riverlog.records.batch import HEADER_SIZE, BatchHeader, check_produced, read_header
from riverlog.records.compression import Codec, inflated
from riverlog.records.crc import Buffer
from riverlog.records.errors import BatchError, CorruptBatch, InvalidRecord
from riverlog.records.record import Record, iterate

# A batch has a megabyte as a rule. What inflates to more than this is sent again in parts.
OPENED_BYTES_MAX = 16 << 20
# To say which records are untimely, no more than this is looked at.
NAMED_BYTES_MAX = 256 << 10
# A reply should stay small; the sender has to look at the rest of its batch anyway.
REASONS_MAX = 1_000
# The records of so few bytes are read before the kernel could be called.
IN_PYTHON_BYTES_MAX = 1 << 10

_NO_TIME_MS = -1


def admit(
    batch: Buffer, settings: LogSettings, now_ms: int, *, has_keys: bool = False
) -> BatchHeader:
    """Gives the header of a batch that a topic with these settings takes.

    `has_keys` says that `check_keys` had nothing against it.
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
    if "compact" in settings.cleanup_policy and not has_keys:
        check_keys(batch)
    return header


def admits_all(batches: Batches, settings: LogSettings, now_ms: int) -> bool:
    """Whether `admit` would take each of them; if not, it says why of those that it refuses."""
    return (
        batches.batch_bytes_max <= settings.message_bytes_max
        and batches.size_bytes <= settings.segment_bytes
        and "compact" not in settings.cleanup_policy
        and batches.time_max_ms <= now_ms + settings.timestamp_after_ms_max
        and (
            batches.time_min_ms == _NO_TIME_MS
            or batches.time_min_ms >= now_ms - settings.timestamp_before_ms_max
        )
    )


def check_keys(batch: Buffer) -> None:
    """Opens a batch; raises `BatchError`, or `KeylessRecords` unless every record has a key."""
    try:
        positions = _keyless(batch)
    except CorruptBatch as error:
        # Its checksum was right: it came as it was sent, and would again.
        raise InvalidRecord(str(error)) from error
    if positions:
        reasons = [
            RecordReason(position, "a record of a compacted topic needs a key")
            for position in positions
        ]
        raise KeylessRecords("records of a compacted topic need keys", reasons)


def _keyless(batch: Buffer) -> list[int]:
    """Where records have no key; the first of them, if there are many."""
    if len(batch) > IN_PYTHON_BYTES_MAX or read_header(batch).codec is not Codec.NONE:
        # Loaded late: no start waits for it.
        from riverlog.kernel.keys import can_find_keyless, keyless

        if can_find_keyless():
            header = read_header(batch)
            body = memoryview(batch)[HEADER_SIZE : header.size_bytes]
            return keyless(inflated(header.codec, body, OPENED_BYTES_MAX), header, REASONS_MAX)
    found = [p for p, record in _records(batch, OPENED_BYTES_MAX) if record.key is None]
    return found[:REASONS_MAX]


def _untimely(batch: Buffer, earliest_ms: int, latest_ms: int) -> InvalidTimestamp:
    """Why a batch is refused whose header has times outside of these bounds."""
    reasons: list[RecordReason] = []
    if len(batch) > NAMED_BYTES_MAX:
        return InvalidTimestamp(f"times from {earliest_ms} to {latest_ms} are taken now", reasons)
    try:
        for position, record in _records(batch, NAMED_BYTES_MAX):
            time_ms = record.timestamp_ms
            if time_ms != _NO_TIME_MS and not earliest_ms <= time_ms <= latest_ms:
                reasons.append(RecordReason(position, f"its time, {time_ms}, is out of bounds"))
                if len(reasons) == REASONS_MAX:
                    break
    except BatchError:
        reasons = []
    return InvalidTimestamp(f"times from {earliest_ms} to {latest_ms} are taken now", reasons)


def _records(batch: Buffer, bytes_max: int) -> Iterator[tuple[int, Record]]:
    return enumerate(iterate(batch, decompressed_bytes_max=bytes_max))
