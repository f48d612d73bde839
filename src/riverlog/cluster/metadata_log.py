"""The metadata log: facts, one after the other, in a partition of their own."""

from collections.abc import Iterator

from riverlog.cluster.facts import Fact, decode, encode
from riverlog.log.partition import Partition
from riverlog.log.waiting import Told
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

    def append(self, told: Told, *facts: Fact) -> None:
        """Writes facts down, all or none; `told` hears when they are durable, or why they are not.

        In the order of the calls, and before anything else is written after a failure. Raises
        `StorageFailed` when the disk refuses them at once; nothing was written then.
        """
        now_ms = self._clock.now_ms()
        batch = build_batch(
            [Record(number, now_ms, None, encode(fact)) for number, fact in enumerate(facts)]
        )
        appended = self._partition.append(batch, read_header(batch), now_ms)
        self._partition.waiting.tell(appended.end_offset, told)

    def close(self) -> None:
        """Leaves everything durable; raises `OSError`."""
        self._partition.close()
