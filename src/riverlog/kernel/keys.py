"""Which records of a batch have no key, found in C: no other thread waits for it meanwhile."""

import ctypes
from ctypes import addressof, byref, c_char, c_char_p, c_int64, c_void_p

from riverlog.kernel.library import REASONS, Batch, Bytes, Columns, library
from riverlog.records.batch import BatchHeader
from riverlog.records.crc import Buffer
from riverlog.records.errors import InvalidRecord
from riverlog.records.room import MAPPED_APART_BYTES_MIN, room_of

_OFFSETS_END = 2**63 - 1
_OFFSET_BYTES = 4
_RECORD_BYTES_MIN = 7
_ALL_VALID = 0xFF


def can_find_keyless() -> bool:
    """Whether the kernel was built."""
    return library() is not None


def keyless(records: Buffer, header: BatchHeader, count_max: int) -> list[int]:
    """The positions, at most so many, of records without a key; `records` are decompressed.

    Raises `InvalidRecord` when they cannot be read. The kernel must have been built.
    """
    kernel = library()
    assert kernel is not None, "the kernel was not built"
    count = header.record_count
    if isinstance(records, memoryview) and records.readonly:
        records = bytes(records)
    if count > len(records) // _RECORD_BYTES_MIN:
        raise InvalidRecord(f"{len(records)} bytes cannot hold {count} records")
    valid = bytearray(b"\xff" * (count // 8 + 1))
    offsets = memoryview(room_of(_OFFSET_BYTES * (count + 1), MAPPED_APART_BYTES_MIN))
    data = memoryview(room_of(len(records) + 1, MAPPED_APART_BYTES_MIN))
    batch = Batch(
        records=_address(records),
        records_bytes=len(records),
        last_offset_delta=header.last_offset_delta,
        base_timestamp=header.base_timestamp_ms,
        max_timestamp=header.max_timestamp_ms,
        count=count,
    )
    keys = Bytes(_address(valid), _address(offsets), _address(data), len(data))
    columns = Columns(rows_max=count, end_offset=_OFFSETS_END, key=keys)
    why = kernel.riverlog_decode(byref(batch), 1, byref(columns), byref(c_int64()))
    if why:
        raise InvalidRecord(REASONS[why])
    if not columns.key.nulls:
        return []
    positions: list[int] = []
    for at, bits in enumerate(valid):
        if bits != _ALL_VALID:
            positions += [8 * at + bit for bit in range(8) if not bits >> bit & 1]
            if len(positions) >= count_max:
                break
    return positions[:count_max]


def _address(buffer: bytes | bytearray | memoryview) -> int:
    """Where bytes lie, as long as they are kept; views have to be of bytes that may be changed."""
    if isinstance(buffer, bytes):
        return ctypes.cast(c_char_p(buffer), c_void_p).value or 0
    return addressof(c_char.from_buffer(buffer)) if len(buffer) else 0
