"""DescribeLogDirs: where data lie, and how much there is."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.serving import Serving, batch_of, serving


async def describe(
    running: Serving, topics: Mapping[str, Sequence[int]] | None, version: int = 4
) -> Any:
    asked = None
    if topics is not None:
        asked = [
            DescribableLogDirTopic(topic=name, partitions=indexes)
            for name, indexes in topics.items()
        ]
    response = await running.ask(DescribeLogDirsRequest(topics=asked), version)
    assert response.error_code == 0
    (result,) = response.results
    return result


def sizes(result: Any) -> dict[str, dict[int, int]]:
    return {
        topic.name: {p.partition_index: p.partition_size for p in topic.partitions}
        for topic in result.topics
    }


@pytest.mark.parametrize("version", range(1, 5))
async def test_every_version_tells_what_partitions_take(version: int) -> None:
    async with serving() as running:
        await running.create("orders", 2)
        await running.produce("orders", *range(100))
        result = await describe(running, None, version)
    assert (result.error_code, result.log_dir) == (0, "data")
    found = sizes(result)["orders"]
    assert found[0] >= len(batch_of(*range(100)))
    assert found[1] == 0
    assert [(p.offset_lag, p.is_future_key) for p in result.topics[0].partitions] == [
        (0, False),
        (0, False),
    ]
    assert (result.total_bytes, result.usable_bytes) == (-1, -1)


async def test_after_a_clean_stop_sizes_are_those_of_the_records_alone() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", *range(100))
        await running.restart()
        result = await describe(running, None)
        assert sizes(result) == {"orders": {0: len(batch_of(*range(100)))}}


async def test_only_what_is_asked_for_and_exists_comes() -> None:
    async with serving() as running:
        await running.create("orders", 3)
        await running.create("other")
        some = await describe(running, {"orders": [2, 0, 9, -1], "nowhere": [0]})
        nothing = await describe(running, {})
        none_of_it = await describe(running, {"orders": []})
    assert sizes(some) == {"orders": {0: 0, 2: 0}}
    assert (sizes(nothing), sizes(none_of_it)) == ({}, {})
    assert nothing.log_dir == "data"


async def test_partitions_that_were_never_written_to_are_not_looked_for() -> None:
    async with serving() as running:
        await running.create("orders", 10_000)
        await running.produce("orders", 1, partition=9_999)
        calls_before = len(running.disk.trace)
        result = await describe(running, None)
        calls = running.disk.trace[calls_before:]
    found = sizes(result)["orders"]
    assert len(found) == 10_000
    assert [index for index, size_bytes in found.items() if size_bytes] == [9_999]
    assert 0 < len(calls) < 10


async def test_a_disk_that_cannot_be_read_is_told() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.produce("orders", 1)
        running.disk.inject(Fault(Effect.EIO, times=None, ops=frozenset({Op.LIST})))
        result = await describe(running, None)
    assert (result.error_code, list(result.topics)) == (ErrorCode.KAFKA_STORAGE_ERROR, [])
