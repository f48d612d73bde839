"""nats-py: JetStream publishes awaited, many at once, and an ordered consumer."""

import asyncio
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from benchmarks.peers.variants import Variant

AT_ONCE = 500
MESSAGE_S_MAX = 60


class NatsClient:
    """A loop of its own, and one connection."""

    def __init__(self, port: int) -> None:
        self._loop = asyncio.new_event_loop()
        connect = import_module("nats").connect
        self._connection = self._loop.run_until_complete(connect(f"nats://127.0.0.1:{port}"))
        self._stream = self._connection.jetstream(timeout=MESSAGE_S_MAX)

    def singly(self, topic: str, value: bytes, seconds: float) -> int:
        return self._loop.run_until_complete(self._publish(topic, value, seconds, 1))

    def batched(self, topic: str, value: bytes, seconds: float) -> int:
        return self._loop.run_until_complete(self._publish(topic, value, seconds, AT_ONCE))

    def read(self, topic: str, count: int) -> Iterator[bytes]:
        yield from self._loop.run_until_complete(self._read(topic, count))

    def close(self) -> None:
        self._loop.run_until_complete(self._connection.close())
        self._loop.close()

    async def _publish(self, topic: str, value: bytes, seconds: float, at_once: int) -> int:
        count, until_s = 0, time.perf_counter() + seconds
        while time.perf_counter() < until_s:
            if at_once == 1:
                await self._stream.publish(topic, value)
            else:
                await asyncio.gather(*(self._stream.publish(topic, value) for _ in range(at_once)))
            count += at_once
        return count

    async def _read(self, topic: str, count: int) -> list[bytes]:
        subscription: Any = await self._stream.subscribe(  # it has no types here
            topic, ordered_consumer=True, pending_msgs_limit=0, pending_bytes_limit=0
        )
        values = [(await subscription.next_msg(MESSAGE_S_MAX)).data for _ in range(count)]
        await subscription.unsubscribe()
        return values


def connected(variant: Variant, port: int) -> NatsClient:
    return NatsClient(port)
