"""Offsets by time: exact, whatever the order of times and however batches are compressed."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.log.partition import Partition
from riverlog.log.reading import Timed
from riverlog.log.settings import LogSettings
from riverlog.records.batch import read_header, write_header
from riverlog.records.compression import Codec
from riverlog.testing.simulated_disk import SimulatedDisk
from riverlog.testing.virtual_loop import run
from tests.log.logs import NOW_MS, append, batch_of, open_log, send, write


async def with_times(
    *batches: Sequence[int], codec: Codec = Codec.NONE, settings: LogSettings | None = None
) -> Partition:
    log = open_log(SimulatedDisk(Random(0)), epoch=3, settings=settings)
    for times_ms in batches:
        await send(log, batch_of(*[b"."] * len(times_ms), times_ms=times_ms, codec=codec))
    return log


def lying_batch() -> bytes:
    """Its header says time 500, its record 20."""
    batch = bytearray(batch_of(b"a", times_ms=[20]))
    write_header(batch, read_header(batch)._replace(max_timestamp_ms=500))
    return bytes(batch)


@pytest.mark.parametrize("codec", list(Codec))
async def test_the_first_record_late_enough_is_found_inside_its_batch(codec: Codec) -> None:
    log = await with_times([10, 20, 30], [40, 50], codec=codec)
    assert log.first_at_or_after(20) == Timed(20, 1, 3)
    assert log.first_at_or_after(21) == Timed(30, 2, 3)
    assert log.first_at_or_after(31) == Timed(40, 3, 3)


async def test_later_than_everything_is_nowhere() -> None:
    log = await with_times([10, 20])
    assert log.first_at_or_after(21) is None


async def test_an_empty_log_has_no_times() -> None:
    log = await with_times()
    assert log.first_at_or_after(0) is None
    assert log.latest_in_time() is None


async def test_times_need_not_rise() -> None:
    log = await with_times([50, 10], [20, 60, 5], [60])
    assert log.first_at_or_after(55) == Timed(60, 3, 3)
    assert log.first_at_or_after(1) == Timed(50, 0, 3)


async def test_the_latest_is_the_first_of_those_with_the_largest_time() -> None:
    log = await with_times([50, 10], [20, 60, 5], [60, 60])
    assert log.latest_in_time() == Timed(60, 3, 3)


async def test_append_time_is_the_time_of_every_record() -> None:
    log = await with_times([10, 20], [30], settings=LogSettings(uses_append_time=True))
    assert log.first_at_or_after(0) == Timed(NOW_MS, 0, 3)
    assert log.first_at_or_after(NOW_MS) == Timed(NOW_MS, 0, 3)
    assert log.first_at_or_after(NOW_MS + 1) is None
    assert log.latest_in_time() == Timed(NOW_MS, 0, 3)


async def test_what_is_not_durable_has_no_time_yet() -> None:
    log = await with_times([10])
    write(log, batch_of(b".", times_ms=[99]))
    assert log.first_at_or_after(50) is None
    assert log.latest_in_time() == Timed(10, 0, 3)


async def test_a_batch_that_lies_about_its_times_does_not_hide_the_next() -> None:
    log = await with_times([10])
    await send(log, lying_batch())
    await append(log, b"now")
    assert log.first_at_or_after(300) == Timed(NOW_MS, 2, 3)


async def test_the_latest_time_may_be_one_that_only_a_header_claims() -> None:
    log = await with_times([10])
    await send(log, lying_batch())
    assert log.latest_in_time() == Timed(500, 1, 3)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=5), max_size=12),
    st.integers(0, 61),
    st.integers(1, 9),
    st.sampled_from([Codec.NONE, Codec.LZ4]),
)
def test_any_times_give_what_a_list_would(
    batches: list[list[int]], timestamp_ms: int, segment_records: int, codec: Codec
) -> None:
    times = [time for batch in batches for time in batch]
    late = [offset for offset, time in enumerate(times) if time >= timestamp_ms]

    async def ask() -> tuple[Timed | None, Timed | None]:
        options = LogSettings(segment_records=segment_records)
        log = await with_times(*batches, codec=codec, settings=options)
        return log.first_at_or_after(timestamp_ms), log.latest_in_time()

    first, latest = run(ask())
    assert first == (Timed(times[late[0]], late[0], 3) if late else None)
    assert latest == (Timed(max(times), times.index(max(times)), 3) if times else None)


async def test_a_repeated_batch_is_told_the_time_of_its_original() -> None:
    log = open_log(SimulatedDisk(Random(0)), settings=LogSettings(uses_append_time=True))
    batch = batch_of(b"once", producer=(7, 0))

    first = write(log, batch, now_ms=1_000)
    again = write(log, batch, now_ms=2_000)

    assert (first.append_time_ms, again.append_time_ms, again.is_duplicate) == (1_000, 1_000, True)
