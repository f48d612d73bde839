"""A key goes where the Java client would put it; records without one are spread."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import DefaultPartitioner
from kafka.partitioner.default import murmur2 as kafka_python_murmur2

from riverlog.records.partitioning import STICKY_BYTES, StickyPartition, murmur2, partition_of


# From the Java client's own tests of `Utils.murmur2`, as signed numbers.
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_that_of_the_java_client(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected & 0xFFFFFFFF


class _Cluster:
    """As much of kafka-python's metadata as its partitioner asks for."""

    def __init__(self, partitions: list[int]) -> None:
        self._partitions = partitions

    def topics(self) -> list[str]:
        return ["t"]

    def partitions_for_topic(self, _: str) -> list[int]:
        return self._partitions

    available_partitions_for_topic = partitions_for_topic


@given(st.binary(max_size=200), st.integers(1, 1000))
def test_a_key_goes_where_kafka_python_puts_it(key: bytes, partition_count: int) -> None:
    assert murmur2(key) == kafka_python_murmur2(key) & 0xFFFFFFFF
    everywhere = list(range(partition_count))
    theirs = DefaultPartitioner().partition("t", key, key, None, None, _Cluster(everywhere))
    assert partition_of(key, partition_count) == theirs


@given(
    st.lists(st.integers(1, 2 * STICKY_BYTES), min_size=1, max_size=200),
    st.integers(1, 20),
    st.integers(),
)
def test_records_without_a_key_stay_for_a_while_and_then_move_on(
    sizes: list[int], partition_count: int, seed: int
) -> None:
    sticky = StickyPartition(Random(seed).randrange)
    taken = [sticky.take(size, partition_count) for size in sizes]

    assert all(0 <= partition < partition_count for partition in taken)
    stay_bytes = 0
    for size, partition, following in zip(sizes, taken, taken[1:], strict=False):
        stay_bytes += size
        if stay_bytes < STICKY_BYTES:
            assert following == partition
        else:
            assert following != partition or partition_count == 1
            stay_bytes = 0


def test_a_topic_with_fewer_partitions_than_before_is_never_overrun() -> None:
    sticky = StickyPartition(lambda limit: limit - 1)
    assert sticky.take(1, 10) == 9
    assert sticky.take(1, 3) == 2
