"""Record batches that lie, that are damaged, or that are far larger than they look."""

import gzip
import itertools
import struct
import time
from collections.abc import Callable

import cramjam
import lz4.frame  # type: ignore[import-untyped]  # it ships no types
import pytest
import zstandard

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.headers import read_response
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from riverlog.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.crc import crc32c
from riverlog.records.record import Record
from tests.conformance.clients.raw_connection import RawConnection
from tests.hostile.scene import Scene, frame_of

LENGTH, MAGIC, CRC, ATTRIBUTES, LAST_DELTA, COUNT, RECORDS = 8, 16, 17, 21, 23, 57, 61
INT32_MAX = 2**31 - 1
ZEROS = bytes(16 << 20)
BOMB_TIMES = 64
BOMBS_IN_A_ROW = 8


def records(count: int = 3) -> list[Record]:
    now_ms = time.time_ns() // 1_000_000
    return [Record(number, now_ms, b"key", b"value") for number in range(count)]


def with_field(layout: str, at: int, value: int, *, is_sound: bool = True) -> bytes:
    """A good batch with one field changed, and its checksum put right if it is to be sound."""
    batch = bytearray(build_batch(records()))
    struct.pack_into(layout, batch, at, value)
    return checked(bytes(batch)) if is_sound else bytes(batch)


def checked(batch: bytes) -> bytes:
    return batch[:CRC] + struct.pack(">I", crc32c(batch[ATTRIBUTES:])) + batch[ATTRIBUTES:]


def packed(codec: Codec, data: bytes) -> bytes:
    """A batch of one record whose records are these bytes, whatever they inflate to."""
    head = bytearray(build_batch(records(1))[:RECORDS])
    struct.pack_into(">h", head, ATTRIBUTES, codec)
    struct.pack_into(">i", head, LENGTH, len(head) + len(data) - LENGTH - 4)
    return checked(bytes(head) + data)


def produce_request(topic: str, batch: bytes, acks: int = -1) -> ProduceRequest:
    data = PartitionProduceData(index=0, records=batch)
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    return ProduceRequest(acks=acks, timeout_ms=10_000, topic_data=topics)


def produce(client: RawConnection, topic: str, batch: bytes) -> ErrorCode:
    request = produce_request(topic, batch)
    (answer,) = client.ask(request, 9, ProduceResponse).responses[0].partition_responses
    return ErrorCode(answer.error_code)


def have_topic(client: RawConnection, name: str, policy: str) -> None:
    topic = CreatableTopic(
        name=name,
        num_partitions=1,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name="cleanup.policy", value=policy)],
    )
    (result,) = client.ask(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse).topics
    assert result.error_code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)


WRONG: dict[str, tuple[bytes, ErrorCode]] = {
    "no batch": (b"", ErrorCode.INVALID_RECORD),
    "a checksum": (with_field(">I", CRC, 1, is_sound=False), ErrorCode.CORRUPT_MESSAGE),
    "a length beyond": (with_field(">i", LENGTH, 10_000), ErrorCode.CORRUPT_MESSAGE),
    "a length below": (with_field(">i", LENGTH, 50), ErrorCode.CORRUPT_MESSAGE),
    "a length of -1": (with_field(">i", LENGTH, -1), ErrorCode.CORRUPT_MESSAGE),
    "magic 0": (with_field(">b", MAGIC, 0), ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
    "magic 1": (with_field(">b", MAGIC, 1), ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
    "magic 3": (with_field(">b", MAGIC, 3), ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
    "2^31-1 records": (with_field(">i", COUNT, INT32_MAX), ErrorCode.INVALID_RECORD),
    "-1 records": (with_field(">i", COUNT, -1), ErrorCode.INVALID_RECORD),
    "a last offset of 2^31-1": (with_field(">i", LAST_DELTA, INT32_MAX), ErrorCode.INVALID_RECORD),
    "a last offset of 0": (with_field(">i", LAST_DELTA, 0), ErrorCode.INVALID_RECORD),
    "a control batch": (with_field(">h", ATTRIBUTES, 0x20), ErrorCode.INVALID_RECORD),
    "an unknown codec": (with_field(">h", ATTRIBUTES, 7), ErrorCode.INVALID_RECORD),
    "two at once": (build_batch(records()) * 2, ErrorCode.INVALID_RECORD),
    "a key of 2 MiB": (
        build_batch([Record(0, records()[0].timestamp_ms, bytes(2 << 20), None)]),
        ErrorCode.MESSAGE_TOO_LARGE,
    ),
}


@pytest.mark.parametrize(("batch", "code"), WRONG.values(), ids=WRONG)
def test_a_batch_that_lies_is_refused(scene: Scene, batch: bytes, code: ErrorCode) -> None:
    with scene.attack():
        client = scene.connect()
        have_topic(client, "lies", "delete")
        assert produce(client, "lies", batch) == code
        assert produce(client, "lies", build_batch(records())) == ErrorCode.NONE


TAKEN: dict[str, bytes] = {
    "100,000 headers": build_batch(
        [Record(0, records()[0].timestamp_ms, b"k", b"v", (("", b""),) * 100_000)]
    ),
    "times before 1970": build_batch([Record(0, -(2**62), b"k", b"v")]),
}


@pytest.mark.parametrize("batch", TAKEN.values(), ids=TAKEN)
def test_a_batch_that_is_only_odd_is_taken(scene: Scene, batch: bytes) -> None:
    with scene.attack():
        client = scene.connect()
        have_topic(client, "odd", "delete")
        assert produce(client, "odd", batch) == ErrorCode.NONE


def zstd_frame() -> bytes:
    stream = zstandard.ZstdCompressor().compressobj()
    return b"".join(stream.compress(ZEROS) for _ in range(BOMB_TIMES)) + stream.flush()


def xerial(*blocks: bytes) -> bytes:
    framed = b"".join(struct.pack(">i", len(block)) + block for block in blocks)
    return b"\x82SNAPPY\0\0\0\0\1\0\0\0\1" + framed


def snappy_blocks() -> bytes:
    return xerial(*[bytes(cramjam.snappy.compress_raw(bytes(1 << 20)))] * 18)


BOMBS: dict[str, tuple[Codec, Callable[[], bytes]]] = {
    "gzip": (Codec.GZIP, lambda: gzip.compress(ZEROS) * BOMB_TIMES),
    "lz4": (Codec.LZ4, lambda: lz4.frame.compress(ZEROS, block_size=7) * 12),
    "zstd, one frame": (Codec.ZSTD, zstd_frame),
    "zstd, many frames": (Codec.ZSTD, lambda: zstandard.compress(ZEROS) * BOMB_TIMES),
    "snappy that declares a gigabyte": (
        Codec.SNAPPY,
        lambda: b"\x80\x80\x80\x80\x04" + bytes(1019),
    ),
    "snappy in blocks": (Codec.SNAPPY, snappy_blocks),
}


@pytest.mark.parametrize(("codec", "make"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_where_batches_are_opened(
    scene: Scene, codec: Codec, make: Callable[[], bytes]
) -> None:
    bomb = packed(codec, make())
    assert len(bomb) < 1 << 20, "else it is refused for its size alone"
    with scene.attack():
        client = scene.connect()
        have_topic(client, "opened", "compact")
        for _ in range(BOMBS_IN_A_ROW):
            assert produce(client, "opened", bomb) == ErrorCode.MESSAGE_TOO_LARGE
        assert produce(client, "opened", build_batch(records())) == ErrorCode.NONE


def test_a_bomb_is_never_inflated_where_batches_stay_closed(scene: Scene) -> None:
    with scene.attack(memory_mib_max=16):
        client = scene.connect()
        have_topic(client, "closed", "delete")
        assert produce(client, "closed", packed(Codec.ZSTD, zstd_frame())) == ErrorCode.NONE


def test_a_bomb_within_a_bomb_is_opened_once(scene: Scene) -> None:
    inner = zstandard.compress(zstd_frame())
    nested = build_batch([Record(0, records()[0].timestamp_ms, b"key", inner)], codec=Codec.ZSTD)
    with scene.attack(memory_mib_max=16):
        client = scene.connect()
        have_topic(client, "opened", "compact")
        assert produce(client, "opened", nested) == ErrorCode.NONE


SOUND = bytes(cramjam.snappy.compress_raw(b"x" * 100))
BROKEN: dict[str, tuple[Codec, bytes]] = {
    "gzip, cut": (Codec.GZIP, gzip.compress(b"x" * 100)[:-5]),
    "lz4, cut": (Codec.LZ4, lz4.frame.compress(b"x" * 100)[:-5]),
    "zstd, cut": (Codec.ZSTD, zstandard.compress(b"x" * 100)[:-5]),
    "snappy, cut": (Codec.SNAPPY, SOUND[:-2]),
    "snappy, a block too long": (Codec.SNAPPY, xerial(SOUND)[:-5]),
    "snappy, a block of 2 GiB": (
        Codec.SNAPPY,
        xerial()[:16] + struct.pack(">i", INT32_MAX) + SOUND,
    ),
    "snappy, a block of -1": (Codec.SNAPPY, xerial()[:16] + struct.pack(">i", -1) + SOUND),
    "no records at all": (Codec.ZSTD, zstandard.compress(b"")),
    "noise": (Codec.LZ4, b"\x04\x22\x4d\x18" + bytes(range(200))),
}


@pytest.mark.parametrize(("codec", "data"), BROKEN.values(), ids=BROKEN)
def test_broken_compression_is_refused_where_batches_are_opened(
    scene: Scene, codec: Codec, data: bytes
) -> None:
    with scene.attack():
        client = scene.connect()
        have_topic(client, "opened", "compact")
        assert produce(client, "opened", packed(codec, data)) == ErrorCode.INVALID_RECORD


def test_sequences_wrap_and_epochs_never_go_back(scene: Scene) -> None:
    asked = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1_000)

    def batch(epoch: int, sequence: int) -> bytes:
        return build_batch(
            records(2), producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
        )

    with scene.attack():
        client = scene.connect()
        have_topic(client, "sequences", "delete")
        producer_id = client.ask(asked, 4, InitProducerIdResponse).producer_id
        assert produce(client, "sequences", batch(1, INT32_MAX)) == ErrorCode.NONE
        assert produce(client, "sequences", batch(1, 1)) == ErrorCode.NONE
        assert produce(client, "sequences", batch(1, 7)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert produce(client, "sequences", batch(0, 0)) == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize("acks", [-1, 1])
def test_batches_keep_their_order_though_some_are_opened_in_a_thread(
    scene: Scene, acks: int
) -> None:
    large = build_batch(records(20_000), codec=Codec.ZSTD)
    small = build_batch(records(1))
    requests = [produce_request("ordered", batch, acks) for batch in (large, small, small) * 5]
    with scene.attack():
        client = scene.connect()
        have_topic(client, "ordered", "compact")
        client.write(b"".join(frame_of(request, 9) for request in requests))
        offsets = []
        for request in requests:
            frame = client.receive()
            assert frame is not None
            _, response = read_response(request, 9, frame, ProduceResponse)
            (answer,) = response.responses[0].partition_responses
            assert answer.error_code == ErrorCode.NONE
            offsets.append(answer.base_offset)
    gaps = [after - before for before, after in itertools.pairwise(offsets)]
    assert gaps == ([20_000, 1, 1] * 5)[:-1]
