"""Building record batches."""

import struct
from collections.abc import Iterable

from riverlog.records.batch import (
    APPEND_TIME_BIT,
    CONTROL_BIT,
    HEADER_SIZE,
    MAGIC,
    TRANSACTIONAL_BIT,
    BatchHeader,
    write_header,
)
from riverlog.records.compression import Codec, compress
from riverlog.records.errors import InvalidRecord
from riverlog.records.record import Record


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    codec: Codec = Codec.NONE,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    leader_epoch: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
    append_time_ms: int | None = None,
) -> bytes:
    """Gives one batch of `records`, whose offsets rise from `base_offset` or above, gaps allowed.

    With `append_time_ms` readers see that time on every record. Raises `InvalidRecord` when there
    are no records, or when an offset, a time, a header's key or the whole does not fit the format.
    """
    body = bytearray()
    record_count = 0
    last_offset_delta = -1
    base_timestamp_ms = max_timestamp_ms = 0
    for record in records:
        if record_count == 0:
            base_timestamp_ms = max_timestamp_ms = record.timestamp_ms
        elif record.timestamp_ms > max_timestamp_ms:
            max_timestamp_ms = record.timestamp_ms
        offset_delta = record.offset - base_offset
        if not last_offset_delta < offset_delta <= _INT32_MAX or record.offset > _INT64_MAX:
            raise InvalidRecord(f"offset {record.offset} does not follow those before it")
        _append_record(body, record, record.timestamp_ms - base_timestamp_ms, offset_delta)
        last_offset_delta = offset_delta
        record_count += 1
    if record_count == 0:
        raise InvalidRecord("a batch has at least one record")

    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=(
            codec
            | (APPEND_TIME_BIT if append_time_ms is not None else 0)
            | (TRANSACTIONAL_BIT if is_transactional else 0)
            | (CONTROL_BIT if is_control else 0)
        ),
        last_offset_delta=last_offset_delta,
        base_timestamp_ms=base_timestamp_ms,
        max_timestamp_ms=max_timestamp_ms if append_time_ms is None else append_time_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=record_count,
    )
    batch = bytearray(HEADER_SIZE) + compress(codec, body)
    try:
        write_header(batch, header)
    except struct.error:
        raise InvalidRecord(f"a field of {header} does not fit, or the batch is too long") from None
    return bytes(batch)


def build_gap(base_offset: int, next_offset: int, leader_epoch: int) -> bytes:
    """Gives a batch without records: a reader of it knows that there are none before its end.

    It ends at `next_offset`, or as far before it as one batch can reach.
    """
    delta = min(next_offset - base_offset - 1, _INT32_MAX)
    batch = bytearray(HEADER_SIZE)
    write_header(
        batch, BatchHeader(base_offset, 0, leader_epoch, MAGIC, 0, 0, delta, -1, -1, -1, -1, -1, 0)
    )
    return bytes(batch)


_INT32_MAX = 2**31 - 1
_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1


def _append_record(out: bytearray, record: Record, timestamp_delta: int, offset_delta: int) -> None:
    _, timestamp_ms, key, value, headers = record
    if not (
        _INT64_MIN <= timestamp_ms <= _INT64_MAX and _INT64_MIN <= timestamp_delta <= _INT64_MAX
    ):
        raise InvalidRecord(f"timestamp {timestamp_ms} is outside of 64 bits, or the delta to it")
    fields = bytearray(1)
    _append_varint(fields, timestamp_delta)
    _append_varint(fields, offset_delta)
    _append_bytes(fields, key)
    _append_bytes(fields, value)
    _append_varint(fields, len(headers))
    for name, content in headers:
        try:
            _append_bytes(fields, name.encode())
        except UnicodeEncodeError:
            raise InvalidRecord(f"the header key {name!r} cannot be written as UTF-8") from None
        _append_bytes(fields, content)
    _append_varint(out, len(fields))
    out += fields


def _append_bytes(out: bytearray, data: bytes | None) -> None:
    if data is None:
        out.append(_NULL)
    else:
        _append_varint(out, len(data))
        out += data


# The varint of length -1.
_NULL = 1


def _append_varint(out: bytearray, number: int) -> None:
    raw = (number << 1) ^ (number >> 63)
    while raw > 127:
        out.append(raw & 127 | 128)
        raw >>= 7
    out.append(raw)
