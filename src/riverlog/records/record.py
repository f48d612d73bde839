"""The records inside a batch."""

from collections.abc import Iterator
from typing import NamedTuple

from riverlog.records.batch import HEADER_SIZE, BatchHeader, read_header
from riverlog.records.compression import decompress
from riverlog.records.crc import Buffer
from riverlog.records.errors import CorruptBatch, InvalidRecord

Headers = tuple[tuple[str, bytes | None], ...]


# A named tuple, like the batch header: making a frozen dataclass takes four times as long, which
# would add two fifths to the time a record takes to read.
class Record(NamedTuple):
    """One event. `offset` is its place in the partition; keys of headers may repeat."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


def iterate(buffer: Buffer, position: int = 0, *, decompressed_bytes_max: int) -> Iterator[Record]:
    """Goes through the records of the batch at `position`, in order of their offsets.

    What is wrong with the header or the compression is raised by the call itself; a record that
    cannot be raises `InvalidRecord` in its turn, after those before it were given. Offsets rise
    and stay within the batch's own. The checksum is `check_batch`'s to verify.
    """
    header = read_header(buffer, position)
    stop = position + header.size_bytes
    if stop > len(buffer):
        raise CorruptBatch(f"a batch of {header.size_bytes} bytes is cut")
    if header.last_offset > _INT64_MAX:
        raise InvalidRecord("the batch's offsets end beyond the last there is")
    body = memoryview(buffer)[position + HEADER_SIZE : stop]
    return _records(header, decompress(header.codec, body, decompressed_bytes_max))


_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1
_INT_BYTES_MAX = 5
_LONG_BYTES_MAX = 10

# Skips the named tuple's own constructor, which is Python code.
_new = tuple.__new__


def _records(header: BatchHeader, data: bytes) -> Iterator[Record]:
    # Varints of one and two bytes, nearly all there are, are read in line to save calls. Lengths
    # are checked once, at the end of each record: until then a slice gives at most what is there,
    # and a byte that is not there is an IndexError.
    base_offset = header.base_offset
    last_offset_delta = header.last_offset_delta
    base_timestamp_ms = header.base_timestamp_ms
    append_time_ms = header.max_timestamp_ms if header.uses_append_time else None
    previous_delta = -1
    at = 0
    try:
        for _ in range(header.record_count):
            raw = data[at]
            at += 1
            if raw >= 128:
                more = data[at]
                if more < 128:
                    raw += (more << 7) - 128
                    at += 1
                else:
                    raw, at = _read_raw(data, at - 1, _INT_BYTES_MAX)
            # A negative length (odd) makes an end that no record can meet.
            end = -1 if raw & 1 else at + (raw >> 1)

            # One byte of attributes comes first, which have no meaning yet.
            raw = data[at + 1]
            at += 2
            if raw >= 128:
                more = data[at]
                if more < 128:
                    raw += (more << 7) - 128
                    at += 1
                else:
                    raw, at = _read_raw(data, at - 1, _LONG_BYTES_MAX)
            timestamp_ms = base_timestamp_ms + ((raw >> 1) ^ -(raw & 1))
            if append_time_ms is not None:
                timestamp_ms = append_time_ms
            elif not _INT64_MIN <= timestamp_ms <= _INT64_MAX:
                raise InvalidRecord("a record's timestamp is outside of 64 bits")

            raw = data[at]
            at += 1
            if raw >= 128:
                more = data[at]
                if more < 128:
                    raw += (more << 7) - 128
                    at += 1
                else:
                    raw, at = _read_raw(data, at - 1, _INT_BYTES_MAX)
            offset_delta = (raw >> 1) ^ -(raw & 1)
            if not previous_delta < offset_delta <= last_offset_delta:
                raise InvalidRecord("a record's offset is out of order or outside of its batch")
            previous_delta = offset_delta

            raw = data[at]
            at += 1
            if raw >= 128:
                more = data[at]
                if more < 128:
                    raw += (more << 7) - 128
                    at += 1
                else:
                    raw, at = _read_raw(data, at - 1, _INT_BYTES_MAX)
            # Every client takes any negative length for null, not only -1.
            if raw & 1:
                key = None
            else:
                start = at
                at += raw >> 1
                key = data[start:at]

            raw = data[at]
            at += 1
            if raw >= 128:
                more = data[at]
                if more < 128:
                    raw += (more << 7) - 128
                    at += 1
                else:
                    raw, at = _read_raw(data, at - 1, _INT_BYTES_MAX)
            if raw & 1:
                value = None
            else:
                start = at
                at += raw >> 1
                value = data[start:at]

            headers: Headers = ()
            if data[at] == 0:
                at += 1
            else:
                headers, at = _read_headers(data, at)
            if at != end:
                raise InvalidRecord("a record's length is not that of its fields")
            yield _new(Record, (base_offset + offset_delta, timestamp_ms, key, value, headers))
    except IndexError:
        raise InvalidRecord("the batch ends before its last record does") from None
    if at != len(data):
        raise InvalidRecord(f"{len(data) - at} bytes follow the last record")


def _read_headers(data: bytes, at: int) -> tuple[Headers, int]:
    count, at = _read_int(data, at)
    if count < 0:
        raise InvalidRecord("a record cannot have fewer than no headers")
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        length, at = _read_int(data, at)
        if length < 0:
            raise InvalidRecord("a header's key cannot be null")
        try:
            key = data[at : at + length].decode()
        except UnicodeDecodeError:
            raise InvalidRecord("a header's key is not UTF-8") from None
        at += length
        length, at = _read_int(data, at)
        if length < 0:
            headers.append((key, None))
        else:
            headers.append((key, data[at : at + length]))
            at += length
    if at > len(data):
        raise InvalidRecord("the batch ends before its last header does")
    return tuple(headers), at


def _read_int(data: bytes, at: int) -> tuple[int, int]:
    raw = data[at]
    if raw < 128:
        return (raw >> 1) ^ -(raw & 1), at + 1
    raw, at = _read_raw(data, at, _INT_BYTES_MAX)
    return (raw >> 1) ^ -(raw & 1), at


def _read_raw(data: bytes, at: int, bytes_max: int) -> tuple[int, int]:
    """Reads a varint without undoing its zigzag: bit 0 says that the number is negative."""
    raw = 0
    for index in range(bytes_max):
        byte = data[at + index]
        raw |= (byte & 127) << (7 * index)
        if byte < 128:
            if raw >> (32 if bytes_max == _INT_BYTES_MAX else 64):
                break
            return raw, at + index + 1
    raise InvalidRecord(f"a number does not end within {bytes_max} bytes")
