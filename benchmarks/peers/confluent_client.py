"""confluent-kafka, for every server that speaks the Kafka protocol."""

import time
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from benchmarks.peers.riverlog_broker import CACHED_ACKS, DURABLE_ACKS
from benchmarks.peers.variants import Variant

FLUSH_S_MAX = 60
AT_A_TIME = 10_000


class ConfluentClient:
    """A producer that lingers for batches, and one that sends at once."""

    def __init__(self, port: int, acks: int) -> None:
        self._settings = {"bootstrap.servers": f"127.0.0.1:{port}"}
        self._acks = acks
        self._failed = 0

    def singly(self, topic: str, value: bytes, seconds: float) -> int:
        producer = self._producer({"linger.ms": 0})
        count, until_s = 0, time.perf_counter() + seconds
        while time.perf_counter() < until_s:
            producer.produce(topic, value, partition=0, on_delivery=self._delivered)
            self._flush(producer)
            count += 1
        return count

    def batched(self, topic: str, value: bytes, seconds: float) -> int:
        sizes = {"batch.size": 1_000_000, "batch.num.messages": 1_000_000}
        producer = self._producer({"linger.ms": 5, **sizes})
        count, until_s = 0, time.perf_counter() + seconds
        while time.perf_counter() < until_s:
            try:
                for _ in range(1000):
                    producer.produce(topic, value, partition=0, on_delivery=self._delivered)
                    count += 1
                producer.poll(0)
            except BufferError:
                producer.poll(0.01)
        self._flush(producer)
        return count

    def read(self, topic: str, count: int) -> Iterator[bytes]:
        consumer = Consumer(self._settings | {"group.id": "reader", "enable.auto.commit": False})
        try:
            consumer.assign([TopicPartition(topic, 0, 0)])
            left = count
            while left:
                messages = consumer.consume(min(left, AT_A_TIME), timeout=FLUSH_S_MAX)
                if not messages:
                    raise ConnectionError("nothing came in time")
                for message in messages:
                    if message.error():
                        raise ConnectionError(str(message.error()))
                    yield message.value() or b""
                left -= len(messages)
        finally:
            consumer.close()

    def close(self) -> None:
        """Its connections end with each producer and consumer."""

    def _producer(self, settings: dict[str, Any]) -> Producer:  # numbers and texts
        return Producer(self._settings | {"acks": self._acks} | settings)

    def _delivered(self, error: KafkaError | None, message: object) -> None:
        self._failed += error is not None

    def _flush(self, producer: Producer) -> None:
        if producer.flush(FLUSH_S_MAX) or self._failed:
            raise ConnectionError("not all was acknowledged")


def connected(variant: Variant, port: int) -> ConfluentClient:
    is_cached = variant.key == "riverlog-cached"
    return ConfluentClient(port, CACHED_ACKS if is_cached else DURABLE_ACKS)
