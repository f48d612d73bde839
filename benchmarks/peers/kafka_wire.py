"""The words for every server that speaks the Kafka protocol: Riverlog and Apache Kafka alike."""

import time
from collections.abc import Sequence

from benchmarks.batches import (
    PRODUCE_VERSION,
    error_position,
    full_batch,
    produce_request,
)
from benchmarks.kafka_connection import Refused, connected
from benchmarks.loads import Listening, Load
from benchmarks.servers import Server
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from riverlog.records.builder import build_batch
from riverlog.records.record import Record

# As many as the clients of Kafka keep under way unless told otherwise.
BATCHES_IN_FLIGHT = 5
# As much as its consumers ask for unless told otherwise.
FETCH_BYTES = 1 << 20
FETCH_WAIT_MS = 5_000
MAKE_S_MAX = 30
# The last version in which every field is where the lengths before it say.
FETCH_VERSION = 11


class KafkaTarget:
    """A broker, asked for topics of one partition."""

    def __init__(self, server: Server, acks: int) -> None:
        self.server, self.pid = server, server.pid
        self.keeps_what_is_read = True
        self._acks = acks

    def make(self, topic: str) -> None:
        with connected(self.server.port) as connection:
            connection.create_topic(topic)
            until_s = time.monotonic() + MAKE_S_MAX
            while True:
                try:
                    connection.end_offset(topic)
                    return
                except Refused:
                    # Its leader may not have heard of it yet.
                    if time.monotonic() > until_s:
                        raise

    def singly(self, topic: str, values: Sequence[bytes], publishers: int = 1) -> Load:
        batches = [build_batch([Record(0, 0, None, value)]) for value in values]
        return self._load(topic, batches, 1, 1)

    def batched(self, topic: str, value: bytes) -> Load:
        batch, count = full_batch(len(value))
        return self._load(topic, [batch], count, BATCHES_IN_FLIGHT)

    def _load(self, topic: str, batches: list[bytes], count: int, in_flight: int) -> Load:
        requests = (produce_request(topic, 0, batch, self._acks) for batch in batches)
        frames = [
            b"".join(request_frame(request, PRODUCE_VERSION, 0, "driver")) for request in requests
        ]
        return Load(
            "kafka",
            frames,
            messages_per_request=count,
            in_flight=in_flight,
            error_at=error_position(topic),
        )

    def listening(self, topic: str) -> Listening:
        frame, other = (_fetch(topic, offset) for offset in (0, -1))
        offset_at = next(at for at in range(len(frame)) if frame[at] != other[at])
        return Listening("kafka", ask=frame, offset_at=offset_at)

    def stored(self, topic: str) -> int:
        with connected(self.server.port) as connection:
            return connection.end_offset(topic)


def _fetch(topic: str, offset: int) -> bytes:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=FETCH_BYTES)
    topics = [FetchTopic(topic=topic, partitions=[asked])]
    request = FetchRequest(max_wait_ms=FETCH_WAIT_MS, min_bytes=1, topics=topics)
    return b"".join(request_frame(request, FETCH_VERSION, 0, "driver"))
