"""The sparse index: where to begin, by offset and by time."""

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from riverlog.log.sparse_index import INTERVAL_BYTES, SparseIndex

# Batches as they follow one another: size, records, largest timestamp.
batch_lists = st.lists(
    st.tuples(st.integers(61, 9_000), st.integers(1, 50), st.integers(0, 1_000)), max_size=30
)


def indexed(batches: list[tuple[int, int, int]]) -> tuple[SparseIndex, list[tuple[int, int, int]]]:
    """The index of these batches, and for each its base offset, position and timestamp."""
    index = SparseIndex()
    places = []
    offset = position = 0
    for size, count, timestamp_ms in batches:
        index.add(offset, position, timestamp_ms)
        places.append((offset, position, timestamp_ms))
        offset += count
        position += size
    return index, places


def test_an_empty_index_begins_at_the_start() -> None:
    index = SparseIndex()
    assert index.position_before(7) == 0
    assert index.position_before_time(7) == 0
    assert index.boundary_before(7) == 0


def test_entries_are_an_interval_apart() -> None:
    index, _ = indexed([(100, 1, 0)] * 1_000)
    assert len(index) == -(-100_000 // (-(-INTERVAL_BYTES // 100) * 100))


@given(batch_lists, st.integers(0, 2_000))
def test_reading_begins_at_a_batch_not_behind_the_offset(
    batches: list[tuple[int, int, int]], offset: int
) -> None:
    index, places = indexed(batches)
    position = index.position_before(offset)
    bases = [base for base, _, _ in places]
    holding = places[max(bisect_right(bases, offset) - 1, 0)][1] if places else 0
    assert position in {0, *(place for _, place, _ in places)}
    assert position <= holding
    assert holding - position < INTERVAL_BYTES + 9_000


@given(batch_lists, st.integers(0, 1_000))
def test_nothing_before_the_place_in_time_is_late_enough(
    batches: list[tuple[int, int, int]], timestamp_ms: int
) -> None:
    index, places = indexed(batches)
    position = index.position_before_time(timestamp_ms)
    assert position in {0, *(place for _, place, _ in places)}
    assert all(time < timestamp_ms for _, place, time in places if place < position)


@given(batch_lists, st.integers(0, 100_000))
def test_a_boundary_is_where_a_batch_begins(
    batches: list[tuple[int, int, int]], position: int
) -> None:
    index, places = indexed(batches)
    boundary = index.boundary_before(position)
    assert boundary <= position
    assert boundary in {0, *(place for _, place, _ in places)}


@given(batch_lists, st.integers(0, 100_000))
def test_cutting_forgets_what_lies_behind(
    batches: list[tuple[int, int, int]], position: int
) -> None:
    index, places = indexed(batches)
    index.cut(position)
    kept = {0, *(place for _, place, _ in places if place < position)}
    assert index.boundary_before(1 << 40) in kept
    assert index.position_before(1 << 40) in kept
