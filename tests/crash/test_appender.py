"""The simulated disk proves itself: it clears a right appender and convicts every wrong one."""

import sys

import pytest

from tests.crash.appender import Flaw
from tests.crash.crash_points import CrashPoints

# Eight workloads of at least 1,250 crash points each: 10,000 in all.
SEEDS = range(8)
POINTS_PER_SEED_MIN = 1_250


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_appender_loses_nothing_at_any_crash_point(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    points = list(CrashPoints(seed))
    with capsys.disabled():
        sys.stdout.write(f" {len(points):,} crash points ")
    assert [point.describe() for point in points if point.anomalies] == []
    assert len(points) >= POINTS_PER_SEED_MIN


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("flaw", Flaw)
def test_a_wrong_appender_is_caught(flaw: Flaw, seed: int) -> None:
    assert any(point.anomalies for point in CrashPoints(seed, flaw)), flaw.value


def test_a_crash_point_can_be_replayed() -> None:
    def first_caught() -> str:
        points = CrashPoints(1, Flaw.NO_CHECKSUM)
        return next(point.describe() for point in points if point.anomalies)

    assert first_caught() == first_caught()
