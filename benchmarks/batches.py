"""What is sent: batches of equal records, and the requests that carry them."""

import time
from collections.abc import Iterable, Sequence
from functools import cache

from riverlog.protocol.codec import encode
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from riverlog.records.builder import build_batch
from riverlog.records.record import Record

PRODUCE_VERSION = 9
ACKS_ALL = -1

# About as large as librdkafka makes them when told to fill batches of a million bytes.
FULL_BATCH_BYTES = 1_000_000


def value_of(size: int) -> bytes:
    """The same letters for everyone."""
    return bytes(ord("a") + index % 26 for index in range(size))


@cache
def batch_of(record_bytes: int, record_count: int) -> bytes:
    """A batch of records without keys, with values of this size, made now."""
    now_ms = time.time_ns() // 1_000_000
    value = value_of(record_bytes)
    return build_batch(Record(offset, now_ms, None, value) for offset in range(record_count))


def full_batch(record_bytes: int, batch_bytes: int = FULL_BATCH_BYTES) -> tuple[bytes, int]:
    """A batch that is about so large, and how many records are in it."""
    # Lengths, deltas and attributes come to some ten bytes beside a value.
    count = max(batch_bytes // (record_bytes + 10), 1)
    return batch_of(record_bytes, count), count


def produce_request(
    topic: str, partition: int, batch: bytes, acks: int = ACKS_ALL
) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=batch)
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    return ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=topics)


def produce_frames(topic: str, partitions: Iterable[int], batch: bytes) -> list[bytes]:
    """One whole request for each partition, as it goes over the wire."""
    requests = (produce_request(topic, partition, batch) for partition in partitions)
    return [
        b"".join(request_frame(request, PRODUCE_VERSION, 0, "publisher")) for request in requests
    ]


def error_position(topic: str) -> int:
    """Where in a Produce reply, behind its length prefix, the one error code is."""
    header_bytes = 5  # correlation id and an empty set of tags
    good, bad = (_reply(topic, code) for code in (0, -1))
    return header_bytes + next(at for at in range(len(good)) if good[at] != bad[at])


def _reply(topic: str, error_code: int) -> bytes:
    answer = PartitionProduceResponse(index=0, error_code=error_code, base_offset=0)
    answers: Sequence[TopicProduceResponse] = [
        TopicProduceResponse(name=topic, partition_responses=[answer])
    ]
    return encode(ProduceResponse(responses=answers), PRODUCE_VERSION)


def xadd_frame(stream: str, value: bytes) -> bytes:
    """A whole Redis request that appends to a stream."""
    words = [b"XADD", stream.encode(), b"*", b"v", value]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)
