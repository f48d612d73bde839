"""Which partition a record belongs to: the choice that the Java client makes, made everywhere."""

from collections.abc import Callable

# A null key stays with one partition for so many bytes, then moves on: the Java client's own
# default batch size, after which its default partitioner does the same.
STICKY_BYTES = 16 * 1024


def murmur2(data: bytes) -> int:
    """The 32-bit hash of `data` that Kafka's Java client takes of a key, as an unsigned number."""
    size = len(data)
    whole = size & ~3
    value = _SEED ^ size
    for start in range(0, whole, 4):
        part = int.from_bytes(data[start : start + 4], "little") * _FACTOR & _MASK
        part = (part ^ part >> 24) * _FACTOR & _MASK
        value = (value * _FACTOR & _MASK) ^ part
    if whole < size:
        value = (value ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _MASK
    value = (value ^ value >> 13) * _FACTOR & _MASK
    return value ^ value >> 15


def partition_of(key: bytes, partition_count: int) -> int:
    """The partition of every record with this key, for as long as the topic has so many."""
    return (murmur2(key) & _POSITIVE) % partition_count


class StickyPartition:
    """Spreads records without a key: one partition for a while, then one chosen anew.

    `choose(n)` gives a number from 0 to n - 1. Staying for a while makes fewer and larger batches
    than a new choice for every record would.
    """

    __slots__ = ("_bytes_left", "_choose", "_partition")

    def __init__(self, choose: Callable[[int], int]) -> None:
        self._choose = choose
        self._partition = -1
        self._bytes_left = 0

    def take(self, size_bytes: int, partition_count: int) -> int:
        """The partition for a record of `size_bytes`, of a topic with so many partitions."""
        if self._bytes_left <= 0 or self._partition >= partition_count:
            self._partition = self._other_than(self._partition, partition_count)
            self._bytes_left = STICKY_BYTES
        self._bytes_left -= size_bytes
        return self._partition

    def _other_than(self, previous: int, partition_count: int) -> int:
        if not 0 <= previous < partition_count or partition_count == 1:
            return self._choose(partition_count)
        chosen = self._choose(partition_count - 1)
        return chosen + (chosen >= previous)


_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995
_MASK = 0xFFFFFFFF
_POSITIVE = 0x7FFFFFFF
