"""The C kernel as Python sees it: found beside this file, loaded with ctypes, if it was built."""

import ctypes
from ctypes import POINTER, Structure, c_int, c_int32, c_int64, c_uint8, c_uint32, c_void_p
from functools import cache
from pathlib import Path
from typing import ClassVar

LIBRARY_NAME = "decode.so"


class Batch(Structure):
    """One batch as `riverlog_scan` finds it; `records` may be set to decompressed ones."""

    _fields_: ClassVar = [
        ("records", c_void_p),
        ("records_bytes", c_int64),
        ("base_offset", c_int64),
        ("last_offset_delta", c_int64),
        ("base_timestamp", c_int64),
        ("max_timestamp", c_int64),
        ("position", c_int64),
        ("size", c_int64),
        ("count", c_int32),
        ("attributes", c_int32),
    ]


class Scan(Structure):
    """How a scan went; `records_bytes` and `rows_max` leave compressed batches out."""

    _fields_: ClassVar = [
        ("position", c_int64),
        ("batches", c_int64),
        ("compressed", c_int64),
        ("records_bytes", c_int64),
        ("rows_max", c_int64),
    ]


class Bytes(Structure):
    """A column of bytes: null pointers if nobody wants it."""

    _fields_: ClassVar = [
        ("valid", c_void_p),
        ("offsets", c_void_p),
        ("data", c_void_p),
        ("room", c_int64),
        ("used", c_int64),
        ("nulls", c_int64),
    ]


class Columns(Structure):
    """Where rows go, and how many there are."""

    _fields_: ClassVar = [
        ("rows_max", c_int64),
        ("rows", c_int64),
        ("start_offset", c_int64),
        ("end_offset", c_int64),
        ("offset", c_void_p),
        ("timestamp_us", c_void_p),
        ("timestamp_type", c_void_p),
        ("key", Bytes),
        ("value", Bytes),
        ("headers_valid", c_void_p),
        ("headers_offsets", c_void_p),
        ("headers_max", c_int64),
        ("headers", c_int64),
        ("headers_nulls", c_int64),
        ("header_key", Bytes),
        ("header_value", Bytes),
    ]


# What the kernel answers, in words.
REASONS = {
    2: "it is not of format 2",
    3: "its length cannot be",
    4: "the checksum does not match",
    5: "it cannot hold so many records",
    6: "nobody knows its codec",
    7: "a record in it cannot be read",
    8: "its records take more room than they have",
}


@cache
def library() -> ctypes.CDLL | None:
    """The kernel, or None where it was not built or does not load."""
    path = Path(__file__).with_name(LIBRARY_NAME)
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError:
        return None
    loaded.riverlog_scan.argtypes = [
        c_void_p, c_int64, c_int, POINTER(Batch), c_int64, POINTER(Scan),
    ]  # fmt: skip
    loaded.riverlog_decode.argtypes = [
        POINTER(Batch), c_int64, POINTER(Columns), POINTER(c_int64),
    ]  # fmt: skip
    loaded.riverlog_keyless.argtypes = [
        POINTER(Batch), POINTER(c_int32), c_int64, POINTER(c_int64),
    ]  # fmt: skip
    for function in (loaded.riverlog_crc32c, loaded.riverlog_crc32c_portable):
        function.argtypes = [POINTER(c_uint8), c_int64]
        function.restype = c_uint32
    return loaded
