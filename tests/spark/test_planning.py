"""How far a micro-batch goes, and how it is cut for tasks."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.spark.errors import InvalidOption
from riverlog.spark.offsets import Mark, Offsets, mark_from_json, mark_to_json, pairs
from riverlog.spark.places import EachAt, EachAtTime, check_covers
from riverlog.spark.planning import (
    Slice,
    backlog,
    cut,
    gone,
    kept,
    limited,
    slices_between,
)

counts = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.dictionaries(st.integers(0, 12), st.integers(0, 1000), min_size=1),
    min_size=1,
)


def test_a_mark_is_the_json_of_sparks_own_source_in_a_fixed_order() -> None:
    offsets = {"b": {10: 1, 9: 2}, "a": {0: 3}}

    text = json.dumps(mark_to_json(Mark(offsets)))

    assert text == '{"a": {"0": 3}, "b": {"9": 2, "10": 1}}'
    assert mark_from_json(json.loads(text)) == Mark(offsets)


@given(counts, counts)
def test_the_end_of_a_first_batch_says_where_it_began(end: Offsets, start: Offsets) -> None:
    mark = Mark(end, initial=start)

    assert mark_from_json(json.loads(json.dumps(mark_to_json(mark)))) == mark


def test_a_partition_found_later_begins_at_its_first_record() -> None:
    found = slices_between({"a": {0: 5}}, {"a": {0: 7, 1: 4}})

    assert found == [Slice("a", 0, 5, 7), Slice("a", 1, 0, 4)]


@given(counts, st.integers(1, 3000))
def test_a_limit_is_shared_by_backlog_and_nobody_starves(ends: Offsets, rows_max: int) -> None:
    start = {topic: dict.fromkeys(numbers, 0) for topic, numbers in ends.items()}

    limit = limited(start, ends, rows_max)

    taken = backlog(start, limit)
    assert pairs(limit) == pairs(ends)
    assert taken <= rows_max + len(pairs(ends))
    for topic, numbers in ends.items():
        for partition, end in numbers.items():
            assert min(end, 1) <= limit[topic][partition] <= end


def test_a_limit_gives_each_partition_its_share() -> None:
    ends = {"a": {0: 900, 1: 100, 2: 0}}

    assert limited({}, ends, 100) == {"a": {0: 90, 1: 10, 2: 0}}
    assert limited({}, ends, 1000) == ends


slices = st.lists(
    st.builds(
        lambda number, start, size: Slice("a", number, start, start + size),
        st.integers(0, 9),
        st.integers(0, 100),
        st.integers(1, 500),
    ),
    min_size=1,
    max_size=6,
)
limits = st.none() | st.integers(1, 200)


@given(slices, limits, limits)
def test_cut_slices_are_the_same_offsets(
    whole: list[Slice], parts_min: int | None, records_max: int | None
) -> None:
    parts = cut(whole, parts_min, records_max)

    def offsets(found: list[Slice]) -> list[tuple[int, int]]:
        return [(each.partition, n) for each in found for n in range(each.start, each.end)]

    assert offsets(parts) == offsets(whole)
    assert all(part.size for part in parts)
    if records_max is not None:
        assert max(part.size for part in parts) <= records_max
    if parts_min is not None:
        assert len(parts) >= min(parts_min, sum(each.size for each in whole))


def test_larger_slices_are_cut_more_often() -> None:
    whole = [Slice("a", 0, 0, 300), Slice("a", 1, 0, 100)]

    parts = cut(whole, 4, None)

    assert [(part.partition, part.size) for part in parts] == [(0, 100)] * 3 + [(1, 100)]


def test_what_the_log_lacks_is_left_out_and_told() -> None:
    wanted = [
        Slice("a", 0, 5, 9),
        Slice("a", 1, 5, 9),
        Slice("a", 2, 5, 9),
        Slice("a", 3, 9, 5),
        Slice("gone", 0, 0, 1),
        Slice("a", 4, 3, 3),
    ]
    earliest = {"a": {0: 0, 1: 7, 2: 0, 3: 0, 4: 9}}
    latest = {"a": {0: 9, 1: 9, 2: 6, 3: 9, 4: 9}}

    found = kept(wanted, earliest, latest)

    assert found.slices == [Slice("a", 0, 5, 9), Slice("a", 1, 7, 9), Slice("a", 2, 5, 6)]
    assert found.losses == [
        "a/1 begins at offset 7, and 5 was to be read",
        "a/2 ends at offset 6, and 9 was to be reached",
        "a/3 went back from offset 9 to 5",
        "gone/0 does not exist any more",
    ]


def test_a_log_that_went_back_is_noticed() -> None:
    assert gone({"a": {0: 5, 1: 5}, "b": {0: 1}}, {"a": {0: 5, 1: 4}}) == [
        "a/1 went back from offset 5 to 4",
        "b/0 does not exist any more",
    ]


def test_a_place_names_every_partition_or_none() -> None:
    ends = {"a": {0: 9, 1: 9}}

    check_covers(EachAt({"a": {0: 1, 1: 1}}), ends, "startingOffsets")
    with pytest.raises(
        InvalidOption, match="startingOffsets names every partition or none, and lacks"
    ):
        check_covers(EachAt({"a": {0: 1}}), ends, "startingOffsets")
    with pytest.raises(InvalidOption, match="OffsetsByTimestamp names b/0, which is not read"):
        check_covers(EachAtTime({"b": {0: 1}}), ends, "endingOffsets")
