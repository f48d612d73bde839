"""Deadlines end, pauses grow and stay within their bounds."""

from hypothesis import given
from hypothesis import strategies as st

from riverlog.client.waiting import Backoff, Deadline
from riverlog.testing.manual_clock import ManualClock
from riverlog.testing.seeded_chance import SeededChance


def test_a_deadline_comes_closer_and_passes() -> None:
    clock = ManualClock()
    deadline = Deadline(clock, 100)
    assert (deadline.left_ms, deadline.has_passed) == (100, False)
    assert deadline.left_s(30) == 0.03
    clock.advance_ms(99)
    assert (deadline.left_ms, deadline.has_passed) == (1, False)
    clock.advance_ms(50)
    assert (deadline.left_ms, deadline.has_passed, deadline.left_s(30)) == (0, True, 0)


@given(st.integers(), st.integers(1, 100), st.integers(100, 5_000), st.integers(1, 100))
def test_pauses_double_up_to_the_longest_and_begin_anew(
    seed: int, ms_min: int, ms_max: int, failures: int
) -> None:
    backoff = Backoff(SeededChance(seed), ms_min, ms_max)
    for number in range(failures):
        full_ms = min(ms_min * 2**number, ms_max)
        assert full_ms * 0.8 - 1 <= backoff.next_ms() <= full_ms
    backoff.reset()
    assert backoff.next_ms() <= ms_min
