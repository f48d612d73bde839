"""What the codec costs per request: reading a Produce of 16 KiB and writing its reply."""

import time
import timeit
from collections.abc import Callable, Iterator

from benchmarks.rounds import Options
from benchmarks.table import Table, at_most
from riverlog.protocol.codec import codec, encode
from riverlog.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

CALLS = 20_000
RECORDS = bytes(16 * 1024)


def run(options: Options) -> Iterator[Table]:
    produce, fetch = _produce(), _fetch()
    calls = options.scaled(CALLS)
    rows: dict[str, list[float]] = {"Produce v9": [], "Fetch v12": []}
    for _ in range(options.rounds):
        rows["Produce v9"].append(_us_per_call(produce, calls))
        rows["Fetch v12"].append(_us_per_call(fetch, calls))
    table = Table("Codec: decode the request, build and encode the response (16 KiB of records)")
    for what, samples in rows.items():
        table.add(what, samples, "µs", at_most(10))
    yield table


def _us_per_call(call: Callable[[], object], calls: int) -> float:
    return timeit.timeit(call, timer=time.process_time, number=calls) / calls * 1e6


def _produce() -> Callable[[], object]:
    partition = PartitionProduceData(index=0, records=RECORDS)
    topic = TopicProduceData(name="orders", partition_data=[partition])
    frame = encode(ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic]), 9)
    read, write = codec(ProduceRequest, 9), codec(ProduceResponse, 9)

    def call() -> bytes:
        request = read.decode(frame)
        topics = [
            TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    PartitionProduceResponse(index=partition.index, base_offset=1)
                    for partition in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
        return b"".join(write.encode(ProduceResponse(responses=topics)))

    return call


def _fetch() -> Callable[[], object]:
    partition = FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic="orders", partitions=[partition])
    frame = encode(FetchRequest(max_wait_ms=500, min_bytes=1, topics=[topic]), 12)
    read, write = codec(FetchRequest, 12), codec(FetchResponse, 12)

    def call() -> bytes:
        request = read.decode(frame)
        topics = [
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    PartitionData(
                        partition_index=partition.partition,
                        high_watermark=2,
                        aborted_transactions=None,
                        records=RECORDS,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return b"".join(write.encode(FetchResponse(responses=topics)))

    return call
