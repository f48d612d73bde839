"""The 61-byte header of a record batch: reading it, checking it, rewriting it in place."""

import struct
from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from riverlog.records.compression import Codec
from riverlog.records.crc import Buffer, crc32c
from riverlog.records.errors import BatchError, CorruptBatch, InvalidRecord, UnsupportedMagic

HEADER_SIZE = 61
MAGIC = 2

# The attributes, above the three bits of the codec.
APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20


# A named tuple where other values are frozen dataclasses: this one is made for every batch that
# passes through, and a dataclass of thirteen fields takes nine times as long to make.
class BatchHeader(NamedTuple):
    """What the header says. Only `check_batch` tells whether to believe it."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_bytes(self) -> int:
        """The whole batch, header included; `batch_length` counts only what follows itself."""
        return self.batch_length + _LENGTH_END

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> Codec:
        """How the records are compressed; raises `InvalidRecord` for a codec nobody knows."""
        try:
            return Codec(self.attributes & _CODEC_BITS)
        except ValueError:
            raise _unknown_codec(self) from None

    @property
    def uses_append_time(self) -> bool:
        """Whether every record's timestamp is `max_timestamp_ms`, set when it was appended."""
        return self.attributes & APPEND_TIME_BIT != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        """Whether it holds a broker's marker (commit, abort) and no user's records."""
        return self.attributes & CONTROL_BIT != 0

    @property
    def has_producer(self) -> bool:
        return self.producer_id >= 0

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record, -1 without one; 0 comes after 2**31 - 1."""
        if self.base_sequence < 0:
            return -1
        return (self.base_sequence + self.last_offset_delta) & _SEQUENCE_MAX


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """Reads the header of the batch that begins at `position`; the batch may be cut behind it.

    `magic` is 2 and `size_bytes` at least 61 in what it gives; nothing else is checked.
    """
    try:
        header = _new(BatchHeader, _HEADER.unpack_from(buffer, position))
    except struct.error:
        raise _cut_header(buffer, position) from None
    if header.magic != MAGIC:
        raise _unsupported(header.magic)
    if header.batch_length < _LENGTH_MIN:
        raise CorruptBatch(f"a batch cannot be {header.size_bytes} bytes long")
    return header


def check_batch(buffer: Buffer, position: int = 0, end: int | None = None) -> BatchHeader:
    """Gives the header of the batch at `position` when its bytes are all there and unchanged.

    It ends at or before `end`, its checksum is right, its codec is known, and it says to hold
    no more records than its offsets have room for: none, where all were compacted away. The
    records are not looked at.
    """
    header = read_header(buffer, position)
    stop = position + _LENGTH_END + header.batch_length
    if stop > (len(buffer) if end is None else end):
        raise CorruptBatch(f"a batch of {header.size_bytes} bytes is cut")
    if crc32c(memoryview(buffer)[position + _CRC_END : stop]) != header.crc:
        raise CorruptBatch("the checksum does not match: the batch was changed on its way")
    if not 0 <= header.record_count <= header.last_offset_delta + 1:
        raise InvalidRecord(
            f"{header.record_count} records cannot have {header.last_offset_delta + 1} offsets"
        )
    if header.attributes & _CODEC_BITS > Codec.ZSTD:
        raise _unknown_codec(header)
    return header


def check_produced(buffer: Buffer, position: int = 0, end: int | None = None) -> BatchHeader:
    """Gives the header when the bytes up to `end` are one batch that a producer may send.

    On top of `check_batch`: it has records, nothing follows, offsets have no gaps, a producer id
    comes with a sequence, and what only a broker writes (control batches, append time) is absent.
    """
    stop = len(buffer) if end is None else end
    if stop <= position:
        raise InvalidRecord("there is no batch to append")
    header = check_batch(buffer, position, stop)
    if position + header.size_bytes != stop:
        raise InvalidRecord("a producer sends one batch for a partition at a time")
    if not 0 < header.record_count == header.last_offset_delta + 1:
        raise InvalidRecord(
            f"{header.record_count} new records cannot have {header.last_offset_delta + 1} offsets"
        )
    if header.attributes & (CONTROL_BIT | APPEND_TIME_BIT):
        raise InvalidRecord("only a broker writes control batches and append times")
    if header.has_producer and header.base_sequence < 0:
        raise InvalidRecord("a batch with a producer id needs a sequence")
    return header


def split(
    buffer: Buffer, position: int = 0, end: int | None = None
) -> Iterator[tuple[int, BatchHeader]]:
    """Goes through batches that follow one another: where each begins, and its header.

    Every batch it gives lies whole before `end`; a cut one raises `CorruptBatch` in its turn.
    Checksums are not verified.
    """
    stop = len(buffer) if end is None else end
    while position < stop:
        header = read_header(buffer, position)
        if position + header.size_bytes > stop:
            raise CorruptBatch(f"a batch of {header.size_bytes} bytes is cut")
        yield position, header
        position += header.size_bytes


def write_header(batch: bytearray, header: BatchHeader) -> None:
    """Writes `header` over the start of `batch`, with the length and checksum `batch` has."""
    _HEADER.pack_into(batch, 0, *header._replace(batch_length=len(batch) - _LENGTH_END))
    _write_crc(batch, 0, len(batch))


def assign_offsets(
    buffer: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int
) -> None:
    """Gives the batch at `position` its place in the log. The checksum does not cover it."""
    _BASE_OFFSET.pack_into(buffer, position, base_offset)
    _LEADER_EPOCH.pack_into(buffer, position + _LENGTH_END, leader_epoch)


def placed(
    batch: Buffer, header: BatchHeader, base_offset: int, leader_epoch: int
) -> tuple[BatchHeader, bytes, memoryview]:
    """The batch at a place in the log without a copy of it: its header, its first bytes, the rest.

    The two pieces one after the other are what `assign_offsets` would have made of it.
    """
    start = _PLACE.pack(base_offset, header.batch_length, leader_epoch)
    moved = (base_offset, header.batch_length, leader_epoch, *header[3:])
    return _new(BatchHeader, moved), start, memoryview(batch)[_PLACE.size :]


def stamp_append_time(buffer: bytearray | memoryview, position: int, timestamp_ms: int) -> None:
    """Sets one timestamp for all records of the batch, compressed or not, and a new checksum.

    The batch must be whole. The records keep their own times, which readers then ignore.
    """
    header = read_header(buffer, position)
    stop = position + header.size_bytes
    assert stop <= len(buffer), "check the batch before stamping it"
    _ATTRIBUTES.pack_into(buffer, position + _CRC_END, header.attributes | APPEND_TIME_BIT)
    _MAX_TIMESTAMP.pack_into(buffer, position + _MAX_TIMESTAMP_AT, timestamp_ms)
    _write_crc(buffer, position, stop)


_HEADER = Struct(">qiibIhiqqqhii")
_BASE_OFFSET = Struct(">q")
_PLACE = Struct(">qii")
_LEADER_EPOCH = Struct(">i")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_MAX_TIMESTAMP = Struct(">q")

_LENGTH_END = 12
_MAGIC_AT = 16
_CRC_AT = 17
_CRC_END = 21
_MAX_TIMESTAMP_AT = 35
_LENGTH_MIN = HEADER_SIZE - _LENGTH_END

_CODEC_BITS = 0x07
_SEQUENCE_MAX = 2**31 - 1

# Skips the named tuple's own constructor, which is Python code.
_new = tuple.__new__


def _write_crc(buffer: bytearray | memoryview, position: int, stop: int) -> None:
    crc = crc32c(memoryview(buffer)[position + _CRC_END : stop])
    _CRC.pack_into(buffer, position + _CRC_AT, crc)


def _cut_header(buffer: Buffer, position: int) -> BatchError:
    # Messages of the older formats can be shorter than our header, with the magic in its place.
    if len(buffer) > position + _MAGIC_AT and buffer[position + _MAGIC_AT] != MAGIC:
        return _unsupported(buffer[position + _MAGIC_AT])
    return CorruptBatch(f"a batch header needs {HEADER_SIZE} bytes, not {len(buffer) - position}")


def _unsupported(magic: int) -> UnsupportedMagic:
    return UnsupportedMagic(f"message format {magic} is not read here; use format {MAGIC}")


def _unknown_codec(header: BatchHeader) -> InvalidRecord:
    return InvalidRecord(f"compression codec {header.attributes & _CODEC_BITS} is not known")
