"""The metadata log: facts, one after the other, in a partition of their own."""

import asyncio
from collections.abc import Iterator

from riverlog.cluster.facts import Fact, decode, encode
from riverlog.log.partition import Partition
from riverlog.records.batch import read_header
from riverlog.records.builder import build_batch
from riverlog.records.record import Record, iterate
from riverlog.runtime.clock import Clock

READ_BYTES = 1 << 20
FACT_BYTES_MAX = 64 << 20


class MetadataLog:
    """Facts in the order they became true."""

    def __init__(self, partition: Partition, clock: Clock) -> None:
        self._partition = partition
        self._clock = clock

    def replay(self) -> Iterator[Fact]:
        """Every fact that is durable, oldest first; raises `UnknownFact`."""
        offset = self._partition.log_start_offset
        while data := self._partition.read(offset, READ_BYTES):
            position = 0
            while position < len(data):
                header = read_header(data, position)
                for record in iterate(data, position, decompressed_bytes_max=FACT_BYTES_MAX):
                    assert record.value is not None, "a fact has a value"
                    yield decode(record.value)
                position += header.size_bytes
                offset = header.next_offset

    def append(self, *facts: Fact) -> "asyncio.Future[None]":
        """Writes facts down, all or none; done when they are durable, in the order of calls.

        Raises `StorageFailed`, at once or from the future.
        """
        now_ms = self._clock.now_ms()
        batch = build_batch(
            [Record(number, now_ms, None, encode(fact)) for number, fact in enumerate(facts)]
        )
        appended = self._partition.append(batch, read_header(batch), now_ms)
        durable = self._partition.durable(appended.end_offset)
        if durable is None:
            durable = asyncio.get_running_loop().create_future()
            durable.set_result(None)
        return durable

    def close(self) -> None:
        """Leaves everything durable; raises `OSError`."""
        self._partition.close()
