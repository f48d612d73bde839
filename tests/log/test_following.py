"""Whoever follows a log closely is given what came last, and the same as anybody else."""

from itertools import accumulate
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.log.errors import StorageFailed
from riverlog.log.partition import Partition
from riverlog.log.settings import LogSettings
from riverlog.records.batch import split
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk
from riverlog.testing.virtual_loop import run
from tests.log.logs import DIRECTORY, append, batch_of, open_log, records_in, send, write


def followed(log: Partition, offset: int) -> list[bytes | None]:
    return [value for _, value in records_in(log.read(offset, 1 << 20))]


async def test_what_is_written_and_not_durable_is_not_given_with_what_is() -> None:
    log = open_log(SimulatedDisk(Random(0)))
    await append(log, b"old")
    await append(log, b"durable")
    write(log, batch_of(b"not yet"))
    assert followed(log, 1) == [b"durable"]


async def test_a_follower_gets_past_a_failed_sync() -> None:
    disk = SimulatedDisk(Random(0))
    log = open_log(disk)
    await append(log, b"before")
    end = (await append(log, b"durable")).end_offset
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC}), fits=lambda path: DIRECTORY in path))
    with pytest.raises(StorageFailed):
        await append(log, b"lost")
    await append(log, b"after")
    assert followed(log, end - 1) == [b"durable"]
    assert followed(log, end) == [b"after"]
    last = await append(log, b"last")
    assert followed(log, last.base_offset) == [b"last"]


rounds = st.lists(st.lists(st.integers(0, 3_000), min_size=1, max_size=5), min_size=2, max_size=12)


@settings(max_examples=200, deadline=None)
@given(rounds, st.integers(500, 20_000), st.integers(0, 8_000))
def test_any_follower_is_given_what_a_list_would_give(
    shape: list[list[int]], segment_bytes: int, bytes_max: int
) -> None:
    batches: list[tuple[int, bytes]] = []

    async def follow() -> None:
        log = open_log(SimulatedDisk(Random(0)), settings=LogSettings(segment_bytes=segment_bytes))
        ends = [0]
        for sizes in shape:
            for size in sizes:
                value = bytes([len(batches) % 251]) * size
                batches.append((write(log, batch_of(value)).base_offset, value))
            durable = log.durable(log.next_offset)
            if durable is not None:
                await durable
            for offset in ends:
                answer = log.read(offset, bytes_max)
                count = len(list(split(answer)))
                assert count >= 1
                assert records_in(answer) == batches[offset : offset + count]
                assert count == 1 or len(answer) <= bytes_max
            ends.append(log.high_watermark)

    run(follow())


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([0, 50, 900, 3_000, 5_000, 9_000]), min_size=1, max_size=30),
    st.integers(0, 30_000),
    st.data(),
)
def test_as_many_batches_come_as_fit(sizes: list[int], bytes_max: int, data: st.DataObject) -> None:
    async def ask() -> None:
        log = open_log(SimulatedDisk(Random(0)))
        batches = [batch_of(bytes(size)) for size in sizes]
        for batch in batches:
            await send(log, batch)
        offset = data.draw(st.integers(0, len(batches) - 1), label="offset")
        ends = list(accumulate(map(len, batches[offset:])))
        fitting = [end for end in ends if end <= bytes_max]
        assert len(log.read(offset, bytes_max)) == (fitting or ends)[-1 if fitting else 0]

    run(ask())
