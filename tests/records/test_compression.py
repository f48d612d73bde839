"""Codecs: framing that clients agree on, and outputs bounded while they inflate."""

import gzip
import struct

import cramjam
import lz4.frame  # type: ignore[import-untyped]  # it ships no types
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from riverlog.records.compression import Codec, compress, decompress
from riverlog.records.errors import CorruptBatch, DecompressionTooLarge
from tests.records.samples import CODECS, COMPRESSED, SIZE_MAX

# Four snappy blocks, more than the first buffer an inflating codec is given, hard to compress
# in part.
DATA = b"".join(struct.pack(">Q", i * 0x9E3779B97F4A7C15 % 2**64) for i in range(8_000)) + bytes(
    60_000
)


def zstd_without_size(data: bytes) -> bytes:
    stream = zstandard.ZstdCompressor().compressobj()
    return stream.compress(data) + stream.flush()


def xerial(*blocks: bytes, versions: bytes = b"\0\0\0\1\0\0\0\1") -> bytes:
    framed = [struct.pack(">i", len(block)) + block for block in blocks]
    return b"\x82SNAPPY\0" + versions + b"".join(framed)


def raw_snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


@given(st.sampled_from(CODECS), st.binary(max_size=2000), st.integers(1, 200))
def test_what_is_compressed_comes_back(codec: Codec, piece: bytes, times: int) -> None:
    data = piece * times
    packed = compress(codec, data)
    assert decompress(codec, packed, len(data)) == data
    assert decompress(codec, memoryview(packed), len(data) + 1) == data


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("data", [DATA, bytearray(DATA), memoryview(DATA)], ids=type)
def test_every_kind_of_buffer_is_compressed(
    codec: Codec, data: bytes | bytearray | memoryview
) -> None:
    packed = compress(codec, data)
    assert type(packed) is bytes
    assert decompress(codec, packed, SIZE_MAX) == DATA
    assert decompress(codec, bytearray(packed), SIZE_MAX) == DATA


@pytest.mark.parametrize("codec", COMPRESSED)
def test_the_limit_is_exact(codec: Codec) -> None:
    packed = compress(codec, DATA)
    assert decompress(codec, packed, len(DATA)) == DATA
    for size_max in (len(DATA) - 1, 70_000, 1000, 0):
        with pytest.raises(DecompressionTooLarge):
            decompress(codec, packed, size_max)


@pytest.mark.parametrize(
    ("codec", "packed"),
    [
        pytest.param(Codec.GZIP, gzip.compress(DATA), id="gzip"),
        pytest.param(Codec.GZIP, gzip.compress(DATA[:9]) + gzip.compress(DATA[9:]), id="gzip x2"),
        pytest.param(Codec.SNAPPY, raw_snappy(DATA), id="snappy, one bare block"),
        pytest.param(
            Codec.SNAPPY, xerial(raw_snappy(DATA[:9]), raw_snappy(DATA[9:])), id="snappy in blocks"
        ),
        pytest.param(
            Codec.SNAPPY,
            xerial(raw_snappy(DATA), versions=b"\1\0\0\0\1\0\0\0"),
            id="snappy with swapped versions",
        ),
        pytest.param(Codec.LZ4, lz4.frame.compress(DATA), id="lz4 with linked blocks"),
        pytest.param(
            Codec.LZ4,
            lz4.frame.compress(
                DATA, block_size=7, block_linked=False, content_checksum=True, store_size=False
            ),
            id="lz4 with large blocks",
        ),
        pytest.param(
            Codec.LZ4, lz4.frame.compress(DATA[:9]) + lz4.frame.compress(DATA[9:]), id="lz4 x2"
        ),
        pytest.param(Codec.ZSTD, zstandard.compress(DATA), id="zstd"),
        pytest.param(Codec.ZSTD, zstd_without_size(DATA), id="zstd without size"),
        pytest.param(
            Codec.ZSTD, zstandard.compress(DATA[:9]) + zstd_without_size(DATA[9:]), id="zstd x2"
        ),
    ],
)
def test_what_other_writers_make_is_read(codec: Codec, packed: bytes) -> None:
    assert decompress(codec, packed, SIZE_MAX) == DATA
    with pytest.raises(DecompressionTooLarge):
        decompress(codec, packed, len(DATA) - 1)


def test_snappy_is_written_in_the_blocks_of_the_java_client() -> None:
    packed = compress(Codec.SNAPPY, DATA)

    blocks = []
    position = 16
    while position < len(packed):
        (length,) = struct.unpack_from(">i", packed, position)
        blocks.append(packed[position + 4 : position + 4 + length])
        position += 4 + length
    assert packed == xerial(*blocks)
    sizes = [cramjam.snappy.decompress_raw_len(block) for block in blocks]
    assert sizes == [32768, 32768, 32768, len(DATA) - 3 * 32768]


def test_lz4_is_written_in_independent_blocks_because_java_reads_no_others() -> None:
    frame = lz4.frame.get_frame_info(compress(Codec.LZ4, DATA))
    assert not frame["block_linked"]
    assert lz4.frame.decompress(compress(Codec.LZ4, DATA)) == DATA


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("cut", [1, 3, 9, 1000])
def test_data_that_is_cut_is_corrupt(codec: Codec, cut: int) -> None:
    with pytest.raises(CorruptBatch):
        decompress(codec, compress(codec, DATA)[:-cut], SIZE_MAX)


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("tail", [b"\0", b"garbage", bytes(64)])
def test_data_followed_by_something_else_is_corrupt(codec: Codec, tail: bytes) -> None:
    with pytest.raises(CorruptBatch):
        decompress(codec, compress(codec, DATA) + tail, SIZE_MAX)


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"not compressed at all"])
def test_data_of_no_codec_is_corrupt(codec: Codec, data: bytes) -> None:
    with pytest.raises(CorruptBatch):
        decompress(codec, data, SIZE_MAX)


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(xerial(b"")[:15], id="header cut"),
        pytest.param(xerial(b"x")[:18], id="block length cut"),
        pytest.param(xerial(raw_snappy(DATA))[:-1], id="block cut"),
        pytest.param(xerial() + b"\xff\xff\xff\xff" + raw_snappy(DATA), id="length negative"),
        pytest.param(xerial() + b"\0\0\0\5" + raw_snappy(DATA), id="length too small"),
        pytest.param(xerial(b""), id="empty block"),
    ],
)
def test_snappy_blocks_that_lie_are_corrupt(packed: bytes) -> None:
    with pytest.raises(CorruptBatch):
        decompress(Codec.SNAPPY, packed, SIZE_MAX)


@pytest.mark.parametrize("packed", [b"\x80\x80\x20\x00a", xerial(b"\x80\x80\x20\x00a")])
def test_five_bytes_that_declare_half_a_mebibyte_are_given_no_memory(packed: bytes) -> None:
    with pytest.raises(CorruptBatch, match="cannot hold the 524288 they declare"):
        decompress(Codec.SNAPPY, packed, SIZE_MAX)


def test_snappy_at_its_densest_is_believed() -> None:
    packed = raw_snappy(bytes(1 << 16))
    assert len(packed) * 21 < 1 << 16
    assert decompress(Codec.SNAPPY, packed, SIZE_MAX) == bytes(1 << 16)
