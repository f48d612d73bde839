"""Batches against two independent clients, both ways: they read ours, and we read theirs."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import aiokafka.record.default_records as aiokafka_records
import cramjam
import kafka.codec
import kafka.record.default_records as kafka_python_records
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.records.batch import assign_offsets, check_batch, check_produced, stamp_append_time
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.record import Record, iterate
from tests.records.samples import CODECS, COMPRESSED, RECORDS, SIZE_MAX, record_lists

# Neither client has types for these classes, and the tests use both through one shape.
CLIENTS: list[Any] = [
    pytest.param(kafka_python_records, id="kafka-python"),
    pytest.param(aiokafka_records, id="aiokafka"),
]
# What each writes as the leader's epoch, which the broker replaces.
LEADER_EPOCHS = {kafka_python_records: 0, aiokafka_records: -1}


@pytest.fixture(scope="module", autouse=True)
def _snappy_for_kafka_python() -> Iterator[None]:
    # Its own framing code is what we test; the blocks inside come from any snappy library.
    blocks = SimpleNamespace(
        compress=lambda data: bytes(cramjam.snappy.compress_raw(data)),
        decompress=lambda data: bytes(cramjam.snappy.decompress_raw(data)),
    )
    before = kafka.codec.snappy
    kafka.codec.snappy = blocks
    yield
    kafka.codec.snappy = before


def they_build(
    client: Any,  # a module without types
    records: list[Record],
    codec: Codec = Codec.NONE,
    is_transactional: bool = False,
    producer: tuple[int, int, int] = (-1, -1, -1),
) -> bytes:
    builder = client.DefaultRecordBatchBuilder(2, int(codec), is_transactional, *producer, 1 << 30)
    for offset, timestamp_ms, key, value, headers in records:
        builder.append(offset, timestamp_ms, key, value, list(headers))
    return bytes(builder.build())


def they_read(client: Any, batch: bytes) -> list[Record]:  # a module without types
    reader = client.DefaultRecordBatch(batch)
    assert reader.validate_crc()
    return [
        Record(
            record.offset,
            record.timestamp,
            record.key,
            record.value,
            tuple((key, value) for key, value in record.headers),
        )
        for record in reader
    ]


def we_read(batch: bytes) -> list[Record]:
    check_batch(batch)
    return list(iterate(batch, decompressed_bytes_max=SIZE_MAX))


@pytest.mark.parametrize("client", CLIENTS)
@given(record_lists())
def test_uncompressed_batches_are_equal_byte_for_byte(client: Any, records: list[Record]) -> None:
    ours = build_batch(records, leader_epoch=LEADER_EPOCHS[client])
    assert ours == they_build(client, records)


@pytest.mark.parametrize("client", CLIENTS)
@given(
    record_lists(),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**15 - 1),
    st.integers(0, 2**31 - 1),
    st.booleans(),
)
def test_batches_of_idempotent_producers_are_equal_byte_for_byte(
    client: Any,
    records: list[Record],
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    is_transactional: bool,
) -> None:
    producer = (producer_id, producer_epoch, base_sequence)
    theirs = they_build(client, records, is_transactional=is_transactional, producer=producer)

    assert theirs == build_batch(
        records,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        is_transactional=is_transactional,
        leader_epoch=LEADER_EPOCHS[client],
    )
    assert check_produced(theirs).is_transactional is is_transactional
    their_reader = kafka_python_records.DefaultRecordBatch(theirs)
    assert check_batch(theirs).last_sequence == their_reader.last_sequence


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("codec", CODECS)
def test_every_shape_of_record_crosses_both_ways(client: Any, codec: Codec) -> None:
    theirs = they_build(client, RECORDS, codec)

    assert check_produced(theirs).codec is codec
    assert we_read(theirs) == RECORDS
    assert they_read(client, build_batch(RECORDS, codec=codec)) == RECORDS


@pytest.mark.parametrize("client", CLIENTS)
@given(record_lists(), st.sampled_from(COMPRESSED), st.integers(1, 200))
@settings(max_examples=50)
def test_compressed_records_cross_both_ways(
    client: Any, records: list[Record], codec: Codec, times: int
) -> None:
    # Repeated, because a client sends small batches uncompressed when that saves bytes.
    padded = [record._replace(value=(record.value or b"") * times) for record in records]

    assert we_read(they_build(client, padded, codec)) == padded
    assert they_read(client, build_batch(padded, codec=codec)) == padded


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_we_placed_and_stamped_is_read_so_by_clients(client: Any, codec: Codec) -> None:
    buffer = bytearray(they_build(client, RECORDS, codec))

    assign_offsets(buffer, 0, 4096, 12)
    stamp_append_time(buffer, 0, 1_800_000_000_000)

    assert they_read(client, bytes(buffer)) == [
        record._replace(offset=4096 + record.offset, timestamp_ms=1_800_000_000_000)
        for record in RECORDS
    ]
    assert client.DefaultRecordBatch(bytes(buffer)).timestamp_type == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_a_compacted_batch_is_read_by_clients(client: Any) -> None:
    records = [RECORDS[1], RECORDS[4]]
    batch = build_batch(records, codec=Codec.ZSTD)

    assert they_read(client, batch) == records
    assert client.DefaultRecordBatch(batch).next_offset == check_batch(batch).next_offset == 5


def test_a_control_batch_is_read_by_kafka_python() -> None:
    commit = Record(0, 5, b"\0\0\0\1", b"\0\0\0\0\0\0")
    batch = build_batch([commit], producer_id=1, producer_epoch=0, is_control=True)

    reader = kafka_python_records.DefaultRecordBatch(batch)

    assert reader.is_control_batch
    assert next(iter(reader)).commit
