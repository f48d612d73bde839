"""Decoding with the C kernel: scan, decompress what is compressed, fill Arrow's buffers."""

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_int64

import pyarrow as pa

from riverlog.kernel.arrow_buffers import RowBuffers
from riverlog.kernel.decoding import Decoded, UnreadableBatch
from riverlog.kernel.library import REASONS, Batch, Scan, library
from riverlog.kernel.wanted import Wanted
from riverlog.records.batch import CONTROL_BIT, HEADER_SIZE
from riverlog.records.compression import Codec, decompress
from riverlog.records.crc import Buffer
from riverlog.records.errors import BatchError

_CODEC_BITS = 7
_RECORD_BYTES_MIN = 7
# At most so much goes into one set of columns: Arrow's offsets have 31 bits, and the largest
# batch may come on top.
_ROUND_BYTES_MAX = 1 << 30
_SCANNED_MAX = 4096


def decode(data: Buffer, wanted: Wanted, checks_crcs: bool, inflated_max: int) -> Decoded:
    """See `decoding.decode`."""
    source = pa.py_buffer(data)
    schema = wanted.schema
    rows: list[pa.RecordBatch] = []
    position = 0
    while True:
        batches = (Batch * _SCANNED_MAX)()
        scan = Scan(position=position)
        why = _kernel().riverlog_scan(
            source.address, source.size, checks_crcs, batches, _SCANNED_MAX, byref(scan)
        )
        if scan.batches:
            rows += _decoded(source, batches, scan, wanted, schema, inflated_max)
        if why:
            raise _unreadable(source, scan.position, REASONS[why])
        position = scan.position
        if scan.batches < _SCANNED_MAX:
            return Decoded([batch for batch in rows if batch.num_rows], position)


def _decoded(
    source: pa.Buffer,
    batches: "ctypes.Array[Batch]",
    scan: Scan,
    wanted: Wanted,
    schema: pa.Schema,
    inflated_max: int,
) -> Iterator[pa.RecordBatch]:
    """Rows of what was scanned, a gigabyte at a time at most."""
    if not scan.compressed and scan.records_bytes <= _ROUND_BYTES_MAX:
        room = scan.rows_max, scan.records_bytes
        yield _rows(source, batches, 0, scan.batches, wanted, schema, room)
        return
    first = rows_max = records_bytes = 0
    inflated: list[bytes] = []
    for number in range(scan.batches):
        batch = batches[number]
        codec = Codec(batch.attributes & _CODEC_BITS)
        # Markers of transactions have no rows, whatever they say of their codec.
        if codec is not Codec.NONE and not batch.attributes & CONTROL_BIT:
            inflated.append(_inflated(source, batch, codec, inflated_max))
            batch.records = pa.py_buffer(inflated[-1]).address
            batch.records_bytes = len(inflated[-1])
        rows_max += min(batch.count, batch.records_bytes // _RECORD_BYTES_MIN)
        records_bytes += batch.records_bytes
        if records_bytes > _ROUND_BYTES_MAX or number + 1 == scan.batches:
            room = rows_max, records_bytes
            yield _rows(source, batches, first, number + 1, wanted, schema, room)
            first, rows_max, records_bytes = number + 1, 0, 0
            inflated.clear()


def _rows(
    source: pa.Buffer,
    batches: "ctypes.Array[Batch]",
    first: int,
    end: int,
    wanted: Wanted,
    schema: pa.Schema,
    room: tuple[int, int],
) -> pa.RecordBatch:
    buffers = RowBuffers(wanted, *room)
    done = c_int64()
    start = ctypes.cast(byref(batches, first * ctypes.sizeof(Batch)), ctypes.POINTER(Batch))
    why = _kernel().riverlog_decode(start, end - first, byref(buffers.columns), byref(done))
    if why:
        raise _unreadable(source, batches[first + done.value].position, REASONS[why])
    return buffers.rows(schema)


def _inflated(source: pa.Buffer, batch: Batch, codec: Codec, size_max: int) -> bytes:
    start = batch.position + HEADER_SIZE
    try:
        data = _bytes(source, start, batch.position + batch.size)
        return decompress(codec, data, size_max)
    except BatchError as error:
        raise _unreadable(source, batch.position, str(error)) from error


def _kernel() -> ctypes.CDLL:
    kernel = library()
    assert kernel is not None, "the kernel was not built"
    return kernel


def _bytes(source: pa.Buffer, start: int, end: int) -> memoryview:
    # Arrow's buffers say to hold signed bytes, which compare equal to no others.
    return memoryview(source).cast("B")[start:end]


def _unreadable(source: pa.Buffer, position: int, reason: str) -> UnreadableBatch:
    """Names the batch by its base offset, as far as that can be told."""
    base_offset = int.from_bytes(_bytes(source, position, position + 8), signed=True)
    return UnreadableBatch(f"the batch at offset {base_offset} cannot be read: {reason}")
