"""Any bytes at all are read or raise a `BatchError`: nothing else, and nothing unbounded."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.records.batch import HEADER_SIZE, check_batch, check_produced, read_header, split
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec, compress, decompress
from riverlog.records.crc import crc32c
from riverlog.records.errors import BatchError
from riverlog.records.record import Record, iterate
from tests.records.samples import CODECS, COMPRESSED, RECORDS, SIZE_MAX, record_lists

BATCHES = {codec: build_batch(RECORDS, codec=codec) for codec in CODECS}


def read_everything(data: bytes) -> None:
    """Lets every reader at the bytes; a `BatchError` is an answer, all else comes out."""
    for reader in (read_header, check_batch, check_produced):
        with suppress(BatchError):
            reader(data)
    with suppress(BatchError):
        for position, _ in split(data):
            list(iterate(data, position, decompressed_bytes_max=SIZE_MAX))


@given(st.binary(max_size=300))
def test_noise_is_answered(data: bytes) -> None:
    read_everything(data)


@given(st.binary(max_size=300), st.sampled_from(range(8)), st.integers(0, 2**31 - 1))
def test_noise_behind_a_good_header_is_answered(body: bytes, codec: int, count: int) -> None:
    fields = (0, 49 + len(body), 0, 2, 0, codec, count, 0, 0, -1, -1, -1, count)
    read_everything(struct.pack(">qiibIhiqqqhii", *fields) + body)


@given(
    st.sampled_from(CODECS),
    st.lists(st.tuples(st.integers(0, 2**16), st.integers(1, 255)), min_size=1, max_size=8),
    st.integers(0, 2**16),
)
def test_a_real_batch_with_changed_bytes_is_answered(
    codec: Codec, changes: list[tuple[int, int]], cut: int
) -> None:
    batch = bytearray(BATCHES[codec])
    for position, change in changes:
        batch[position % len(batch)] ^= change
    # Half of them get a length and a checksum that hide the change from the first look.
    if cut % 2:
        del batch[max(HEADER_SIZE, len(batch) - cut % 64) :]
        struct.pack_into(">i", batch, 8, len(batch) - 12)
        struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
    read_everything(bytes(batch))


@given(record_lists(), st.data())
def test_changed_records_behind_good_compression_are_answered(
    records: list[Record], data: st.DataObject
) -> None:
    body = bytearray(build_batch(records)[HEADER_SIZE:])
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    packed = compress(Codec.LZ4, body)
    fields = (0, 49 + len(packed), 0, 2, 0, 3, len(records) - 1, 0, 0, -1, -1, -1, len(records))
    read_everything(struct.pack(">qiibIhiqqqhii", *fields) + packed)


@pytest.mark.parametrize("codec", COMPRESSED)
@given(st.binary(max_size=200), st.integers(0, 2000))
def test_noise_is_never_inflated_past_the_limit(codec: Codec, data: bytes, size_max: int) -> None:
    with suppress(BatchError):
        assert len(decompress(codec, data, size_max)) <= size_max
