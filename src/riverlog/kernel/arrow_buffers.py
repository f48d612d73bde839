"""Memory for the kernel to fill, and the Arrow columns that it becomes. No value is copied."""

from ctypes import memset

import pyarrow as pa

from riverlog.kernel.library import Bytes, Columns
from riverlog.kernel.wanted import HEADERS_TYPE, SCHEMA, Wanted, constants

_HEADER_BYTES_MIN = 2
_LONG, _INT = 8, 4


class RowBuffers:
    """Room for `rows_max` rows, made of records of `records_bytes` together.

    No column can need more than all the bytes there are; pages that are not written to cost
    nothing.
    """

    def __init__(self, wanted: Wanted, rows_max: int, records_bytes: int) -> None:
        self._wanted = wanted
        self._memory: dict[str, pa.Buffer] = {}
        self.columns = columns = Columns(
            rows_max=rows_max, start_offset=wanted.start_offset, end_offset=wanted.end_offset
        )
        names = wanted.columns
        if "offset" in names:
            columns.offset = self._allocate("offset", rows_max * _LONG)
        if "timestamp" in names:
            columns.timestamp_us = self._allocate("timestamp", rows_max * _LONG)
        if "timestampType" in names:
            columns.timestamp_type = self._allocate("timestampType", rows_max * _INT)
        for name in ("key", "value"):
            if name in names:
                self._allocate_bytes(name, getattr(columns, name), rows_max, records_bytes)
        if "headers" in names:
            columns.headers_valid = self._allocate_bits("headers", rows_max)
            columns.headers_offsets = self._allocate_offsets("headers", rows_max)
            columns.headers_max = records_bytes // _HEADER_BYTES_MIN
            for name in ("header_key", "header_value"):
                room = columns.headers_max, records_bytes
                self._allocate_bytes(name, getattr(columns, name), *room)

    def rows(self, schema: pa.Schema) -> pa.RecordBatch:
        """What the kernel has put here."""
        made = constants(self._wanted, self.columns.rows)
        arrays = [made[name] if name in made else self._array(name) for name in schema.names]
        if not arrays:
            return pa.RecordBatch.from_arrays([], schema=schema)
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _array(self, name: str) -> pa.Array:
        rows = self.columns.rows
        if name in ("key", "value"):
            return self._bytes_array(name, rows, pa.binary())
        if name == "headers":
            return self._headers_array(rows)
        kind = SCHEMA.field(name).type
        return pa.Array.from_buffers(kind, rows, [None, self._memory[name]])

    def _headers_array(self, rows: int) -> pa.Array:
        count = self.columns.headers
        keys = self._bytes_array("header_key", count, pa.string())
        values = self._bytes_array("header_value", count, pa.binary())
        fields = list(HEADERS_TYPE.value_type)
        pairs = pa.StructArray.from_arrays([keys, values], fields=fields)
        buffers = [self._memory["headers valid"], self._memory["headers offsets"]]
        nulls = self.columns.headers_nulls
        return pa.Array.from_buffers(HEADERS_TYPE, rows, buffers, nulls, children=[pairs])

    def _bytes_array(self, name: str, rows: int, kind: pa.DataType) -> pa.Array:
        column: Bytes = getattr(self.columns, name)
        data = self._memory[f"{name} data"].slice(0, column.used)
        valid = self._memory[f"{name} valid"] if column.nulls else None
        buffers = [valid, self._memory[f"{name} offsets"], data]
        return pa.Array.from_buffers(kind, rows, buffers, column.nulls)

    def _allocate_bytes(self, name: str, column: Bytes, rows_max: int, room: int) -> None:
        column.valid = self._allocate_bits(name, rows_max)
        column.offsets = self._allocate_offsets(name, rows_max)
        column.data = self._allocate(f"{name} data", room)
        column.room = room

    def _allocate_bits(self, name: str, rows_max: int) -> int:
        size = rows_max // 8 + 1
        address = self._allocate(f"{name} valid", size)
        memset(address, 0xFF, size)
        return address

    def _allocate_offsets(self, name: str, rows_max: int) -> int:
        address = self._allocate(f"{name} offsets", (rows_max + 1) * _INT)
        memset(address, 0, _INT)
        return address

    def _allocate(self, name: str, size: int) -> int:
        memory = self._memory[name] = pa.allocate_buffer(size)
        address: int = memory.address
        return address
