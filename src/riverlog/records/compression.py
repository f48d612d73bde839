"""The codecs of record batches, with every output bounded while it inflates.

A kilobyte can inflate to a gigabyte, so nothing here trusts a length that a frame declares.
"""

from collections.abc import Callable
from enum import IntEnum
from struct import Struct

import cramjam

from riverlog.records.crc import Buffer
from riverlog.records.errors import CorruptBatch, DecompressionTooLarge
from riverlog.records.room import MAPPED_APART_BYTES_MIN, MAPPED_BYTES_MIN, Room, room_of


class Codec(IntEnum):
    """How the records of a batch are compressed; the numbers are those in its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Codec, data: Buffer) -> bytes:
    """Compresses `data` the way that clients in every language can read."""
    match codec:
        case Codec.NONE:
            return bytes(data)
        case Codec.GZIP:
            return bytes(cramjam.gzip.compress(data, level=_GZIP_LEVEL))
        case Codec.SNAPPY:
            return _compress_xerial(memoryview(data))
        case Codec.LZ4:
            # The Java client refuses linked blocks, and `lz4.compress` writes nothing else.
            compressor = cramjam.lz4.Compressor(
                level=_LZ4_LEVEL, content_checksum=False, block_linked=False
            )
            compressor.compress(bytes(data))
            return bytes(compressor.finish())
        case Codec.ZSTD:
            return bytes(cramjam.zstd.compress(data, level=_ZSTD_LEVEL))


def decompress(codec: Codec, data: Buffer, size_max: int) -> bytes:
    """Gives all of what `data` inflates to, when that is at most `size_max` bytes.

    Raises `DecompressionTooLarge` when it is more, and `CorruptBatch` when `data` is cut, damaged
    or followed by something else. Memory grows with the bytes that come out: a bomb costs at
    most twice `size_max` and the decoder's own buffers (10 MiB), a small batch far less.
    `Codec.NONE` inflates nothing and has no limit.
    """
    return bytes(inflated(codec, data, size_max, MAPPED_BYTES_MIN))


def inflated(
    codec: Codec, data: Buffer, size_max: int, mapped_bytes_min: int = MAPPED_APART_BYTES_MIN
) -> Buffer:
    """The same, without a copy of what comes out.

    Other threads can go on meanwhile, as far as it is large.
    """
    try:
        match codec:
            case Codec.NONE:
                return data
            case Codec.GZIP:
                return _inflate(cramjam.gzip.decompress_into, data, size_max, mapped_bytes_min)
            case Codec.SNAPPY:
                return _decompress_snappy(memoryview(data), size_max)
            case Codec.LZ4:
                return _inflate(cramjam.lz4.decompress_into, data, size_max, mapped_bytes_min)
            case Codec.ZSTD:
                return _inflate(cramjam.zstd.decompress_into, data, size_max, mapped_bytes_min)
    except cramjam.DecompressionError as error:
        raise CorruptBatch(f"the {codec.name.lower()} data cannot be read: {error}") from error


# The levels Kafka's own clients use for gzip and zstd; lz4 has a faster one that loses little.
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 3
_LZ4_LEVEL = 0

_FIRST_CAPACITY = 64 * 1024
_GROWTH = 4
# Memory that is mapped is not there before it is written to: no need to begin with little.
_MAPPED_CAPACITY = 4 << 20
# How Rust's standard library says that a fixed buffer is full.
_OUTPUT_FULL = "failed to write whole buffer"


def _inflate(
    into: Callable[[Buffer, Room], int], data: Buffer, size_max: int, mapped_bytes_min: int
) -> Buffer:
    """Tries buffers of growing size, so that what is allocated follows what comes out."""
    capacity = max(_FIRST_CAPACITY, _GROWTH * len(data))
    while True:
        if capacity >= mapped_bytes_min:
            capacity = max(capacity, _MAPPED_CAPACITY)
        capacity = min(capacity, size_max)
        output = room_of(capacity, mapped_bytes_min)
        try:
            size = into(data, output)
        except cramjam.DecompressionError as error:
            if str(error) != _OUTPUT_FULL:
                raise
            if capacity >= size_max:
                raise _too_large(size_max) from error
            capacity *= _GROWTH
            # Freed before the next is made: the two together would pass the promised bound.
            del output
        else:
            return memoryview(output)[:size]


# The framing of snappy-java: this mark, two version numbers, then blocks with their lengths.
_XERIAL_MARK = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MARK + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_SIZE = 32 * 1024
_BLOCK_LENGTH = Struct(">I")
# The densest element of the format makes 64 bytes out of 3, so no honest block declares more.
_SNAPPY_RATIO_MAX = 22


def _compress_xerial(data: memoryview) -> bytes:
    parts = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_SIZE):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_SIZE]))
        parts.append(_BLOCK_LENGTH.pack(len(block)))
        parts.append(block)
    return b"".join(parts)


def _decompress_snappy(data: memoryview, size_max: int) -> bytes:
    # The Java client frames its blocks, librdkafka sends one bare block. No bare block can begin
    # with the mark: its third byte would copy from before the start of the output.
    if data[: len(_XERIAL_MARK)] != _XERIAL_MARK:
        return _snappy_block(data, size_max)
    blocks = []
    # The version numbers are skipped: some writers swap their bytes, and there is one version.
    position = len(_XERIAL_HEADER)
    if position > len(data):
        raise CorruptBatch("the snappy header is cut")
    while position < len(data):
        start = position + _BLOCK_LENGTH.size
        if start > len(data):
            raise CorruptBatch("a snappy block length is cut")
        (length,) = _BLOCK_LENGTH.unpack_from(data, position)
        position = start + length
        if position > len(data):
            raise CorruptBatch(f"a snappy block of {length} bytes has {len(data) - start}")
        block = _snappy_block(data[start:position], size_max)
        size_max -= len(block)
        blocks.append(block)
    return b"".join(blocks)


def _snappy_block(data: memoryview, size_max: int) -> bytes:
    size = cramjam.snappy.decompress_raw_len(data)
    if size > size_max:
        raise _too_large(size_max)
    if size > _SNAPPY_RATIO_MAX * len(data):
        raise CorruptBatch(f"{len(data)} bytes of snappy cannot hold the {size} they declare")
    return bytes(cramjam.snappy.decompress_raw(data))


def _too_large(size_max: int) -> DecompressionTooLarge:
    return DecompressionTooLarge(f"the records inflate to more than {size_max} bytes")
