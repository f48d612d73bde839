"""Decoding in Python: the same rows, some thirty times slower; for where there is no C compiler."""

import pyarrow as pa

from riverlog.kernel.decoding import Decoded, UnreadableBatch
from riverlog.kernel.wanted import SCHEMA, Wanted, constants
from riverlog.records.batch import HEADER_SIZE, check_batch, read_header
from riverlog.records.crc import Buffer
from riverlog.records.errors import BatchError
from riverlog.records.record import Record, iterate

_LENGTH_END = 12
_TIME_MS_MAX = (2**63 - 1) // 1000


def decode(data: Buffer, wanted: Wanted, checks_crcs: bool, inflated_max: int) -> Decoded:
    """See `decoding.decode`."""
    schema = wanted.schema
    records: list[tuple[Record, int]] = []
    position = 0
    while position + _LENGTH_END <= len(data):
        size = int.from_bytes(memoryview(data)[position + 8 : position + 12], signed=True)
        try:
            if size + _LENGTH_END < HEADER_SIZE:
                raise BatchError("its length cannot be")
            if position + HEADER_SIZE > len(data):
                break
            header = read_header(data, position)
            if position + header.size_bytes > len(data):
                break
            header = check_batch(data, position) if checks_crcs else header
            if not 0 <= header.record_count <= header.last_offset_delta + 1:
                raise BatchError("it cannot hold so many records")
            _ = header.codec  # One that nobody knows is refused, even where there are no rows.
            if not header.is_control:
                kind = int(header.uses_append_time)
                found = iterate(data, position, decompressed_bytes_max=inflated_max)
                records += [(record, kind) for record in found if _is_wanted(record, wanted)]
        except BatchError as error:
            base_offset = int.from_bytes(memoryview(data)[position : position + 8], signed=True)
            reason = f"the batch at offset {base_offset} cannot be read: {error}"
            raise UnreadableBatch(reason) from error
        position += header.size_bytes
    rows = [_rows(records, wanted, schema)] if records else []
    return Decoded(rows, position)


def _is_wanted(record: Record, wanted: Wanted) -> bool:
    if not wanted.start_offset <= record.offset < wanted.end_offset:
        return False
    if "timestamp" in wanted.columns and not -_TIME_MS_MAX <= record.timestamp_ms <= _TIME_MS_MAX:
        raise BatchError("a record's timestamp has no place in microseconds")
    return True


def _rows(records: list[tuple[Record, int]], wanted: Wanted, schema: pa.Schema) -> pa.RecordBatch:
    made = constants(wanted, len(records))
    for name in schema.names:
        if name not in made:
            made[name] = pa.array(_values(name, records), SCHEMA.field(name).type)
    return pa.RecordBatch.from_arrays([made[name] for name in schema.names], schema=schema)


def _values(name: str, records: list[tuple[Record, int]]) -> list[object]:
    match name:
        case "key":
            return [record.key for record, _ in records]
        case "value":
            return [record.value for record, _ in records]
        case "offset":
            return [record.offset for record, _ in records]
        case "timestamp":
            return [record.timestamp_ms * 1000 for record, _ in records]
        case "timestampType":
            return [kind for _, kind in records]
        case _:
            return [_pairs(record) for record, _ in records]


def _pairs(record: Record) -> list[dict[str, object]] | None:
    return [{"key": key, "value": value} for key, value in record.headers] or None
