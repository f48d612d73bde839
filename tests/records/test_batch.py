"""Batch headers: what is read, what is refused, what is rewritten in place."""

import struct

import pytest

from riverlog.records.batch import (
    HEADER_SIZE,
    assign_offsets,
    check_batch,
    check_produced,
    placed,
    read_header,
    split,
    stamp_append_time,
)
from riverlog.records.builder import build_batch, build_gap
from riverlog.records.compression import Codec
from riverlog.records.crc import crc32c
from riverlog.records.errors import CorruptBatch, InvalidRecord, UnsupportedMagic
from riverlog.records.record import Record, iterate
from tests.records.samples import CODECS, RECORDS, SIZE_MAX

BATCH = build_batch(RECORDS)

# Where the fields lie, written down a second time on purpose.
LENGTH, LEADER_EPOCH, MAGIC, CRC, ATTRIBUTES, LAST_OFFSET_DELTA = 8, 12, 16, 17, 21, 23
PRODUCER_ID, BASE_SEQUENCE, RECORD_COUNT = 43, 53, 57


def changed(position: int, layout: str, value: int) -> bytes:
    """The sample batch with one field set, and a checksum that covers the change."""
    batch = bytearray(BATCH)
    struct.pack_into(layout, batch, position, value)
    struct.pack_into(">I", batch, CRC, crc32c(batch[ATTRIBUTES:]))
    return bytes(batch)


def test_every_field_is_read_from_its_place() -> None:
    header = read_header(
        struct.pack(">qiibIhiqqqhii", 1, 49, 3, 2, 5, 0x3B, 7, 8, 9, 10, 11, 12, 13)
    )

    assert header == (1, 49, 3, 2, 5, 0x3B, 7, 8, 9, 10, 11, 12, 13)
    assert (header.base_offset, header.batch_length, header.leader_epoch) == (1, 49, 3)
    assert (header.magic, header.crc, header.attributes) == (2, 5, 0x3B)
    assert (header.last_offset_delta, header.record_count) == (7, 13)
    assert (header.base_timestamp_ms, header.max_timestamp_ms) == (8, 9)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (10, 11, 12)
    assert (header.size_bytes, header.last_offset, header.next_offset) == (61, 8, 9)
    assert header.codec is Codec.LZ4
    assert header.uses_append_time
    assert header.is_transactional
    assert header.is_control
    assert header.has_producer


def test_a_plain_batch_claims_nothing() -> None:
    header = read_header(BATCH)

    assert header.size_bytes == len(BATCH)
    assert header.codec is Codec.NONE
    assert not header.uses_append_time
    assert not header.is_transactional
    assert not header.is_control
    assert not header.has_producer
    assert header.last_sequence == -1


@pytest.mark.parametrize(
    ("base_sequence", "expected"),
    [(0, 5), (2**31 - 6, 2**31 - 1), (2**31 - 5, 0), (2**31 - 1, 4)],
)
def test_sequences_start_again_after_the_largest(base_sequence: int, expected: int) -> None:
    batch = build_batch(RECORDS, producer_id=1, producer_epoch=0, base_sequence=base_sequence)
    assert read_header(batch).last_sequence == expected


@pytest.mark.parametrize("size", [0, 11, 16, 17, 60])
def test_a_header_that_is_not_all_there_is_corrupt(size: int) -> None:
    with pytest.raises(CorruptBatch):
        read_header(BATCH[:size])


@pytest.mark.parametrize("magic", [0, 1, 3])
@pytest.mark.parametrize("size", [17, 26, len(BATCH)])
def test_another_format_is_named_even_when_it_is_shorter(magic: int, size: int) -> None:
    with pytest.raises(UnsupportedMagic, match=f"format {magic}"):
        check_batch(changed(MAGIC, ">b", magic)[:size])


@pytest.mark.parametrize("length", [48, 0, -1, -12, -(2**31)])
def test_a_length_too_short_for_a_header_is_corrupt(length: int) -> None:
    with pytest.raises(CorruptBatch):
        read_header(changed(LENGTH, ">i", length))


@pytest.mark.parametrize("buffer", [BATCH, bytearray(BATCH), memoryview(BATCH)])
def test_a_good_batch_passes_from_any_buffer(buffer: bytes | bytearray | memoryview) -> None:
    assert check_batch(buffer) == read_header(BATCH)
    assert check_produced(buffer) == read_header(BATCH)


def test_a_batch_is_checked_where_it_lies() -> None:
    buffer = b"before" + BATCH + b"after"
    end = 6 + len(BATCH)

    assert check_batch(buffer, 6, end) == read_header(BATCH)
    assert check_produced(buffer, 6, end) == read_header(BATCH)
    with pytest.raises(CorruptBatch, match="cut"):
        check_batch(buffer, 6, end - 1)
    with pytest.raises(CorruptBatch, match="cut"):
        check_batch(BATCH[:-1])


@pytest.mark.parametrize("position", [CRC, *range(ATTRIBUTES, HEADER_SIZE + 4), len(BATCH) - 1])
def test_any_changed_byte_under_the_checksum_is_found(position: int) -> None:
    batch = bytearray(BATCH)
    batch[position] ^= 1
    with pytest.raises(CorruptBatch, match="checksum"):
        check_batch(batch)


@pytest.mark.parametrize("count", [-1, 7, 2**31 - 1])
def test_a_count_without_room_for_it_is_invalid(count: int) -> None:
    with pytest.raises(InvalidRecord):
        check_batch(changed(RECORD_COUNT, ">i", count))


@pytest.mark.parametrize("delta", [-1, 4, -(2**31)])
def test_fewer_offsets_than_records_are_invalid(delta: int) -> None:
    with pytest.raises(InvalidRecord):
        check_batch(changed(LAST_OFFSET_DELTA, ">i", delta))


def test_gaps_are_for_compacted_batches_and_not_for_new_ones() -> None:
    compacted = build_batch([RECORDS[0], RECORDS[5]])

    assert check_batch(compacted).record_count == 2
    with pytest.raises(InvalidRecord):
        check_produced(compacted)


@pytest.mark.parametrize(("end", "reached"), [(8, 8), (5 + 2**31, 5 + 2**31), (2**40, 5 + 2**31)])
def test_a_gap_is_a_batch_without_records_that_no_producer_sends(end: int, reached: int) -> None:
    gap = build_gap(5, end, leader_epoch=3)

    header = check_batch(gap)
    assert (header.base_offset, header.next_offset, header.leader_epoch) == (5, reached, 3)
    assert (header.record_count, header.has_producer, len(gap)) == (0, False, HEADER_SIZE)
    assert list(iterate(gap, decompressed_bytes_max=0)) == []
    with pytest.raises(InvalidRecord):
        check_produced(gap)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec_is_invalid(codec: int) -> None:
    batch = changed(ATTRIBUTES, ">h", codec)
    with pytest.raises(InvalidRecord):
        check_batch(batch)
    with pytest.raises(InvalidRecord):
        _ = read_header(batch).codec


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(build_gap(0, 0, -1), id="no records and no offsets"),
        pytest.param(BATCH + BATCH, id="two batches"),
        pytest.param(BATCH + b"\0", id="a byte too many"),
        pytest.param(build_batch(RECORDS, is_control=True), id="control batch"),
        pytest.param(build_batch(RECORDS, append_time_ms=1), id="append time"),
        pytest.param(build_batch(RECORDS, producer_id=0), id="producer without sequence"),
    ],
)
def test_a_producer_may_not_send(batch: bytes) -> None:
    with pytest.raises(InvalidRecord):
        check_produced(batch)


def test_an_idempotent_batch_may_be_sent() -> None:
    batch = build_batch(RECORDS, producer_id=7, producer_epoch=0, base_sequence=0)
    assert check_produced(batch).has_producer


def test_batches_in_a_row_are_split() -> None:
    second = build_batch([Record(6, 0, None, b"x")], base_offset=6)
    buffer = b"??" + BATCH + second + b"??"

    found = list(split(buffer, 2, len(buffer) - 2))

    assert [position for position, _ in found] == [2, 2 + len(BATCH)]
    assert [header.base_offset for _, header in found] == [0, 6]
    assert list(split(b"")) == []


@pytest.mark.parametrize("tail", [1, HEADER_SIZE - 1, HEADER_SIZE, len(BATCH) - 1])
def test_a_cut_batch_ends_the_split_in_its_turn(tail: int) -> None:
    batches = split(BATCH + BATCH[:tail])

    assert next(batches)[0] == 0
    with pytest.raises(CorruptBatch):
        next(batches)


@pytest.mark.parametrize("kind", [bytearray, lambda data: memoryview(bytearray(data))])
def test_offsets_are_assigned_without_touching_the_checksum(
    kind: type[bytearray],
) -> None:
    buffer = kind(BATCH + BATCH)

    assign_offsets(buffer, len(BATCH), 2**40, 9)

    assert bytes(buffer[: len(BATCH)]) == BATCH
    header = check_batch(buffer, len(BATCH))
    assert header == read_header(BATCH)._replace(base_offset=2**40, leader_epoch=9)
    assert bytes(buffer[len(BATCH) + MAGIC :]) == BATCH[MAGIC:]
    records = iterate(buffer, len(BATCH), decompressed_bytes_max=SIZE_MAX)
    assert [record.offset for record in records] == [2**40 + i for i in range(6)]


@pytest.mark.parametrize("codec", CODECS)
def test_append_time_is_what_readers_then_see(codec: Codec) -> None:
    before = build_batch(RECORDS, codec=codec)
    buffer = bytearray(b"??" + before + b"??")

    stamp_append_time(buffer, 2, 1_800_000_000_000)

    header = check_batch(buffer, 2, len(buffer) - 2)
    assert header.uses_append_time
    assert header.max_timestamp_ms == 1_800_000_000_000
    assert header.codec is codec
    assert header.base_timestamp_ms == RECORDS[0].timestamp_ms
    assert buffer[:2] == buffer[-2:] == b"??"
    records = list(iterate(buffer, 2, decompressed_bytes_max=SIZE_MAX))
    assert records == [record._replace(timestamp_ms=1_800_000_000_000) for record in RECORDS]


def test_a_batch_is_placed_without_a_copy_as_if_it_had_been_rewritten() -> None:
    header, start, rest = placed(BATCH, read_header(BATCH), 2**40, 9)
    rewritten = bytearray(BATCH)
    assign_offsets(rewritten, 0, 2**40, 9)
    assert start + rest == rewritten
    assert header == read_header(rewritten)
    assert rest.obj is BATCH
