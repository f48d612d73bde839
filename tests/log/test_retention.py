"""Which segments have had their time: by age, by size, by number, and never too many."""

import pytest

from riverlog.log.retention import Held, count_due
from riverlog.log.settings import LogSettings

NOW_MS = 1_767_225_600_000
DAY_MS = 86_400_000
WEEK = LogSettings(retention_ms=7 * DAY_MS)
FOREVER = LogSettings(retention_ms=-1)


def aged(*days: float, size_bytes: int = 100) -> list[Held]:
    """Segments of ten records each, whose newest record is so old."""
    times = [int(NOW_MS - age * DAY_MS) for age in days]
    return [Held(10 * n, size_bytes, time, time) for n, time in enumerate(times, 1)]


def due(segments: list[Held], settings: LogSettings, start: int = 0, end: int = 1_000) -> int:
    return count_due(segments, settings, NOW_MS, start, end)


def test_nothing_goes_before_its_time() -> None:
    assert due(aged(6.9, 5, 0), WEEK) == 0
    assert due([], WEEK) == 0


def test_the_oldest_goes_when_its_newest_record_has_had_its_time() -> None:
    assert due(aged(7.1, 5, 0), WEEK) == 1


def test_by_time_one_goes_at_once_and_no_more_for_the_clock_may_be_wrong() -> None:
    assert due(aged(900, 800, 700, 600), WEEK) == 1


def test_what_became_due_while_the_clock_ran_evenly_goes_too() -> None:
    # Two were due for long, as after a jump; two have become due within the last hour or so.
    segments = aged(900, 800, 7.02, 7.01, 6)
    hour_ago_ms = NOW_MS - DAY_MS // 24

    assert count_due(segments, WEEK, NOW_MS, 0, 1_000, hour_ago_ms) == 3
    assert count_due(segments[2:], WEEK, NOW_MS, 0, 1_000, hour_ago_ms) == 2
    assert count_due(segments, WEEK, NOW_MS, 0, 1_000, NOW_MS) == 1


def test_only_the_oldest_goes_however_old_a_later_one_claims_to_be() -> None:
    assert due(aged(1, 900, 0), WEEK) == 0


def test_minus_one_keeps_everything_for_ever() -> None:
    assert due(aged(9_000, 0), FOREVER) == 0


def test_the_one_being_written_goes_too_when_all_in_it_has_had_its_time() -> None:
    assert due(aged(8), WEEK) == 1


def test_an_empty_one_stays() -> None:
    segments = [Held(10, 0, -1, NOW_MS - 90 * DAY_MS)]
    assert due(segments, WEEK, start=10) == 0
    assert due(segments, FOREVER._replace(retention_bytes=0, retention_segments=0)) == 0


def test_a_time_in_the_future_keeps_a_segment_no_longer_than_its_arrival() -> None:
    stamped = Held(10, 100, NOW_MS + 9_000 * DAY_MS, NOW_MS - 8 * DAY_MS)
    assert due([stamped, *aged(0)], WEEK) == 1
    fresh = stamped._replace(last_append_ms=NOW_MS - 6 * DAY_MS)
    assert due([fresh, *aged(0)], WEEK) == 0


def test_a_time_long_past_counts_as_with_kafka() -> None:
    loaded = Held(10, 100, NOW_MS - 365 * DAY_MS, NOW_MS)
    assert due([loaded, *aged(0)], WEEK) == 1


def test_without_any_time_the_arrival_counts_and_without_that_nothing_goes() -> None:
    assert due([Held(10, 100, -1, NOW_MS - 8 * DAY_MS), *aged(0)], WEEK) == 1
    assert due([Held(10, 100, -1, -1), *aged(0)], WEEK) == 0


@pytest.mark.parametrize(
    ("limit", "count"),
    [(-1, 0), (400, 0), (399, 0), (301, 0), (300, 1), (199, 2), (100, 3), (0, 4)],
)
def test_by_size_as_many_go_as_leave_no_less_than_the_limit(limit: int, count: int) -> None:
    assert due(aged(3, 2, 1, 0), FOREVER._replace(retention_bytes=limit)) == count


@pytest.mark.parametrize(("limit", "count"), [(-1, 0), (9, 0), (4, 0), (3, 1), (1, 3)])
def test_by_number_as_many_go_as_are_too_many(limit: int, count: int) -> None:
    assert due(aged(3, 2, 1, 0), FOREVER._replace(retention_segments=limit)) == count


def test_limits_add_up() -> None:
    settings = WEEK._replace(retention_segments=2)
    assert due(aged(900, 800, 700, 600), settings) == 2
    assert due(aged(900, 800), settings) == 1


def test_what_lies_before_the_start_goes_whatever_the_policy() -> None:
    compacted = WEEK._replace(cleanup_policy="compact")
    assert due(aged(3, 2, 1), compacted, start=20) == 2
    assert due(aged(3, 2, 1), compacted, start=19) == 1
    assert due(aged(3, 2, 1), compacted, start=30) == 3


def test_a_topic_that_is_only_compacted_lets_nothing_go() -> None:
    settings = LogSettings(cleanup_policy="compact", retention_bytes=0, retention_segments=1)
    assert due(aged(900, 800), settings) == 0
    both = settings._replace(cleanup_policy="compact,delete")
    assert due(aged(900, 800), both) == 2


def test_one_more_goes_by_time_beside_those_before_the_start() -> None:
    assert due(aged(900, 800, 700, 600), WEEK, start=10) == 2


def test_what_is_not_durable_to_its_end_stays_and_all_that_follows() -> None:
    small = FOREVER._replace(retention_bytes=0)
    assert due(aged(3, 2, 1), small, end=20) == 2
    assert due(aged(3, 2, 1), small, end=19) == 1
    assert due(aged(900), WEEK, end=9) == 0
