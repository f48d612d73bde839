"""redis-py: XADD, a pipeline of them, XREAD."""

import time
from collections.abc import Iterator
from importlib import import_module

from benchmarks.peers.variants import Variant

PIPELINED = 1000
AT_A_TIME = 10_000
REPLY_S_MAX = 60


class RedisClient:
    """One connection."""

    def __init__(self, port: int) -> None:
        self._redis = import_module("redis").Redis(port=port, socket_timeout=REPLY_S_MAX)

    def singly(self, topic: str, value: bytes, seconds: float) -> int:
        count, until_s = 0, time.perf_counter() + seconds
        while time.perf_counter() < until_s:
            self._redis.xadd(topic, {"v": value})
            count += 1
        return count

    def batched(self, topic: str, value: bytes, seconds: float) -> int:
        count, until_s = 0, time.perf_counter() + seconds
        while time.perf_counter() < until_s:
            pipeline = self._redis.pipeline(transaction=False)
            for _ in range(PIPELINED):
                pipeline.xadd(topic, {"v": value})
            count += len(pipeline.execute())
        return count

    def read(self, topic: str, count: int) -> Iterator[bytes]:
        after, left = b"0", count
        while left:
            [(_, entries)] = self._redis.xread({topic: after}, count=min(left, AT_A_TIME))
            for _, fields in entries:
                yield fields[b"v"]
            after = entries[-1][0]
            left -= len(entries)

    def close(self) -> None:
        self._redis.close()


def connected(variant: Variant, port: int) -> RedisClient:
    return RedisClient(port)
