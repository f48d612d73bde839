"""Records inside a batch: what goes in comes out, and what cannot be is refused."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.records.batch import HEADER_SIZE, BatchHeader, write_header
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec, compress
from riverlog.records.errors import CorruptBatch, DecompressionTooLarge, InvalidRecord
from riverlog.records.record import Record, iterate
from tests.records.samples import CODECS, COMPRESSED, RECORDS, SIZE_MAX, record_lists


def read(buffer: bytes | bytearray | memoryview, position: int = 0) -> list[Record]:
    return list(iterate(buffer, position, decompressed_bytes_max=SIZE_MAX))


def batch_of(body: bytes, count: int = 1, codec: Codec = Codec.NONE, **fields: int) -> bytes:
    """A batch with a right checksum around any bytes at all."""
    header = BatchHeader(0, 0, 0, 2, 0, codec, count - 1, 1000, 1000, -1, -1, -1, count)
    batch = bytearray(HEADER_SIZE) + compress(codec, body)
    write_header(batch, header._replace(**fields))
    return bytes(batch)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_shape_of_record_comes_back(
    codec: Codec, kind: Callable[[bytes], bytes | bytearray | memoryview]
) -> None:
    buffer = kind(b"??" + build_batch(RECORDS, codec=codec) + b"??")

    records = read(buffer, 2)

    assert records == RECORDS
    assert all(type(record.value) in (bytes, type(None)) for record in records)


@given(record_lists() | record_lists(with_gaps=True), st.sampled_from(CODECS))
def test_what_is_built_is_what_is_read(records: list[Record], codec: Codec) -> None:
    assert read(build_batch(records, codec=codec)) == records


@given(record_lists(), st.integers(0, 2**63 - 100), st.integers(-(2**63), 2**63 - 1))
def test_offsets_and_append_times_reach_their_limits(
    records: list[Record], base_offset: int, append_time_ms: int
) -> None:
    placed = [record._replace(offset=record.offset + base_offset) for record in records]

    batch = build_batch(placed, base_offset=base_offset, append_time_ms=append_time_ms)

    assert read(batch) == [record._replace(timestamp_ms=append_time_ms) for record in placed]


@pytest.mark.parametrize("timestamp_ms", [-(2**63), -1, 0, 2**63 - 1])
def test_a_timestamp_may_be_any_of_64_bits(timestamp_ms: int) -> None:
    records = [Record(0, timestamp_ms, None, b"x"), Record(1, timestamp_ms // 2, None, b"y")]
    assert read(build_batch(records)) == records


def test_a_cut_batch_is_corrupt_at_the_call() -> None:
    with pytest.raises(CorruptBatch):
        iterate(build_batch(RECORDS)[:-1], decompressed_bytes_max=SIZE_MAX)


def test_an_unknown_codec_is_invalid_at_the_call() -> None:
    with pytest.raises(InvalidRecord):
        iterate(batch_of(b"", attributes=7), decompressed_bytes_max=SIZE_MAX)


@pytest.mark.parametrize("codec", COMPRESSED)
def test_records_that_inflate_past_the_limit_are_refused_at_the_call(codec: Codec) -> None:
    batch = build_batch(RECORDS, codec=codec)
    size = len(build_batch(RECORDS)) - HEADER_SIZE

    with pytest.raises(DecompressionTooLarge):
        iterate(batch, decompressed_bytes_max=size - 1)
    assert list(iterate(batch, decompressed_bytes_max=size)) == RECORDS


def test_the_limit_is_not_for_what_was_never_compressed() -> None:
    assert list(iterate(build_batch(RECORDS), decompressed_bytes_max=0)) == RECORDS


# Length 6: attributes, timestamp delta 0, offset delta 0, null key, null value, no headers.
SMALLEST = b"\x0c\x00\x00\x00\x01\x01\x00"


def test_the_smallest_record_is_read() -> None:
    assert read(batch_of(SMALLEST)) == [Record(0, 1000, None, None)]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(SMALLEST[:-1], id="cut"),
        pytest.param(b"\x0a" + SMALLEST[1:], id="length too small"),
        pytest.param(b"\x0e" + SMALLEST[1:], id="length too large"),
        pytest.param(b"\x0d" + SMALLEST[1:], id="length negative"),
        pytest.param(b"\x0c\x00\x00\x00\x7e\x01\x00", id="key longer than the batch"),
        pytest.param(b"\x0c\x00\x00\x00\x01\x7e\x00", id="value longer than the batch"),
        pytest.param(b"\x14\x00\x00\x00\xfe\xff\xff\xff\x0f\x01\x00", id="key of 2 GiB"),
        pytest.param(b"\x0c\x00\x00\x00\x01\x01\x02", id="a header that is not there"),
        pytest.param(b"\x14\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f", id="2**31 headers"),
        pytest.param(b"\x0c\x00\x00\x00\x01\x01\x01", id="-1 headers"),
        pytest.param(b"\x0e\x00\x00\x00\x01\x01\x02\x01", id="header key null"),
        pytest.param(b"\x12\x00\x00\x00\x01\x01\x02\x02\xff\x01", id="header key not UTF-8"),
        pytest.param(b"\x1e\x00\x00\x00\x01\x01\x02\x00\x0ex", id="header value past the end"),
        pytest.param(b"\x0c\x00\x00\x01\x01\x01\x00", id="offset negative"),
        pytest.param(b"\x0c\x00\x00\x02\x01\x01\x00", id="offset beyond the last"),
        pytest.param(b"\x8c\x80\x80\x80\x80\x00" + SMALLEST[1:], id="length of six bytes"),
        pytest.param(b"\x14\x00\x00\x00\x81\x80\x80\x80\x10\x01\x00", id="length of 33 bits"),
        pytest.param(b"\x20\x00" + b"\x80" * 10 + b"\x00\x00\x01\x01\x00", id="time of 11 bytes"),
        pytest.param(b"\x1e\x00" + b"\x80" * 9 + b"\x02\x00\x01\x01\x00", id="time of 65 bits"),
    ],
)
def test_a_record_that_cannot_be_is_invalid(body: bytes) -> None:
    # The times begin low enough that 65 bits would still add up to a time.
    batch = batch_of(body, base_timestamp_ms=-(2**62))
    with pytest.raises(InvalidRecord):
        next(iterate(batch, decompressed_bytes_max=SIZE_MAX))


def test_a_byte_after_the_last_record_is_invalid() -> None:
    with pytest.raises(InvalidRecord, match="follow"):
        read(batch_of(SMALLEST + b"\0"))


def test_numbers_written_longer_than_they_need_are_read() -> None:
    fields = [b"\x9c\x80\x00", b"\x00", b"\x80\x80\x00", b"\x80\x80\x00"]
    fields += [b"\x81\x80\x00", b"\x81\x00", b"\x80\x00"]
    assert read(batch_of(b"".join(fields))) == [Record(0, 1000, None, None)]


@pytest.mark.parametrize("count", [1, 3])
def test_a_count_that_is_not_the_content_is_invalid(count: int) -> None:
    two = SMALLEST + SMALLEST.replace(b"\x00\x00\x01\x01", b"\x00\x02\x01\x01")
    assert len(read(batch_of(two, 2))) == 2
    with pytest.raises(InvalidRecord):
        read(batch_of(two, count, last_offset_delta=5))


def test_records_before_a_bad_one_are_given() -> None:
    records = iterate(batch_of(SMALLEST + SMALLEST, 2), decompressed_bytes_max=SIZE_MAX)

    assert next(records).offset == 0
    with pytest.raises(InvalidRecord, match="order"):
        next(records)


def test_offsets_end_with_the_last_of_64_bits() -> None:
    assert read(batch_of(SMALLEST, base_offset=2**63 - 1))[0].offset == 2**63 - 1
    with pytest.raises(InvalidRecord):
        read(batch_of(SMALLEST, base_offset=2**63 - 1, last_offset_delta=1))


def test_a_timestamp_past_64_bits_is_invalid() -> None:
    one_later = SMALLEST[:2] + b"\x02" + SMALLEST[3:]
    assert read(batch_of(one_later, base_timestamp_ms=2**63 - 2))[0].timestamp_ms == 2**63 - 1
    with pytest.raises(InvalidRecord):
        read(batch_of(one_later, base_timestamp_ms=2**63 - 1))


def test_a_hundred_thousand_headers_are_read() -> None:
    record = Record(0, 0, b"k", b"v", (("h", b"x"),) * 100_000)
    assert read(build_batch([record], codec=Codec.ZSTD)) == [record]


def test_a_key_of_two_mebibytes_is_read() -> None:
    record = Record(0, 0, bytes(2 << 20), None)
    assert read(build_batch([record])) == [record]
