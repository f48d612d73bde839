"""Which records of a batch have no key, found in C: no other thread waits for it meanwhile."""

import ctypes
from ctypes import addressof, byref, c_char, c_char_p, c_int32, c_int64, c_void_p

from riverlog.kernel.library import REASONS, Batch, library
from riverlog.records.batch import BatchHeader
from riverlog.records.crc import Buffer
from riverlog.records.errors import InvalidRecord


def can_find_keyless() -> bool:
    """Whether the kernel was built."""
    return library() is not None


def keyless(records: Buffer, header: BatchHeader, count_max: int) -> list[int]:
    """The positions, at most so many, of records without a key; `records` are decompressed.

    Raises `InvalidRecord` when they cannot be read. The kernel must have been built.
    """
    kernel = library()
    assert kernel is not None, "the kernel was not built"
    if isinstance(records, memoryview) and records.readonly:
        records = bytes(records)
    batch = Batch(
        records=_address(records),
        records_bytes=len(records),
        last_offset_delta=header.last_offset_delta,
        base_timestamp=header.base_timestamp_ms,
        max_timestamp=header.max_timestamp_ms,
        count=header.record_count,
    )
    positions = (c_int32 * count_max)()
    found = c_int64()
    why = kernel.riverlog_keyless(byref(batch), positions, count_max, byref(found))
    if why:
        raise InvalidRecord(REASONS[why])
    return positions[: found.value]


def _address(buffer: bytes | bytearray | memoryview) -> int:
    """Where bytes lie, as long as they are kept; views have to be of bytes that may be changed."""
    if isinstance(buffer, bytes):
        return ctypes.cast(c_char_p(buffer), c_void_p).value or 0
    return addressof(c_char.from_buffer(buffer)) if len(buffer) else 0
