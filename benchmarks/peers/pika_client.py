"""pika's blocking connection: each publish waits for its confirm, and there is no other way."""

import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from benchmarks.peers.rabbitmq import STREAM_ACK_EVERY, STREAM_PREFETCH
from benchmarks.peers.variants import Variant

MESSAGE_S_MAX = 60
PERSISTENT = 2


class PikaClient:
    """One connection, with a channel for each use."""

    def __init__(self, port: int, *, is_stream: bool) -> None:
        self._pika: Any = import_module("pika")  # it has no types here
        parameters = self._pika.ConnectionParameters("127.0.0.1", port, heartbeat=0)
        self._connection = self._pika.BlockingConnection(parameters)
        self._is_stream = is_stream

    def singly(self, topic: str, value: bytes, seconds: float) -> int:
        channel = self._connection.channel()
        channel.confirm_delivery()
        properties = self._pika.BasicProperties(delivery_mode=PERSISTENT)
        count, until_s = 0, time.perf_counter() + seconds
        while time.perf_counter() < until_s:
            channel.basic_publish("", topic, value, properties)
            count += 1
        return count

    def batched(self, topic: str, value: bytes, seconds: float) -> None:
        return None

    def read(self, topic: str, count: int) -> Iterator[bytes]:
        channel = self._connection.channel()
        arguments = None
        if self._is_stream:
            channel.basic_qos(prefetch_count=STREAM_PREFETCH)
            arguments = {"x-stream-offset": "first"}
        deliveries = channel.consume(
            topic,
            auto_ack=not self._is_stream,
            arguments=arguments,
            inactivity_timeout=MESSAGE_S_MAX,
        )
        for number, (method, _, body) in enumerate(deliveries, start=1):
            if method is None:
                raise ConnectionError("nothing came in time")
            if self._is_stream and number % STREAM_ACK_EVERY == 0:
                channel.basic_ack(method.delivery_tag, multiple=True)
            yield body
            if number == count:
                break
        channel.close()

    def close(self) -> None:
        self._connection.close()


def connected(variant: Variant, port: int) -> PikaClient:
    return PikaClient(port, is_stream=variant.key == "rabbit-stream")
