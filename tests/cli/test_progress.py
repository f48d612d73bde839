"""A bar for people at a terminal, few lines for a log, nothing left behind."""

import io

from riverlog.cli.progress import LINE_MS, REDRAW_MS, Progress
from riverlog.testing.manual_clock import ManualClock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_a_bar_that_is_wiped_at_the_end() -> None:
    out, clock = Terminal(), ManualClock()
    with Progress("reading", 1000, in_bytes=True, out=out, clock=clock) as progress:
        clock.advance_ms(REDRAW_MS)
        progress.advance(500)
    bar = out.getvalue().split("\r\x1b[2K")[1]
    assert bar.startswith("reading ██████████████░░░░░░░░░░░░░░  50% 500 B")
    assert out.getvalue().endswith("\r\x1b[2K")


def test_it_is_not_drawn_more_often_than_eyes_see() -> None:
    out, clock = Terminal(), ManualClock()
    with Progress("reading", 1000, out=out, clock=clock) as progress:
        for _ in range(1000):
            progress.advance()
        clock.advance_ms(REDRAW_MS)
        progress.advance(0)
    assert out.getvalue().count("reading") == 1


def test_a_log_gets_a_line_now_and_then_and_none_for_quick_work() -> None:
    out, clock = io.StringIO(), ManualClock()
    with Progress("reading", None, out=out, clock=clock) as progress:
        progress.advance(5)
        assert out.getvalue() == ""
        clock.advance_ms(LINE_MS)
        progress.advance(5)
    assert out.getvalue() == "reading 10, 1/s\n"


def test_amounts_that_mean_nothing_are_left_out() -> None:
    out, clock = Terminal(), ManualClock()
    with Progress("measuring", 10, shows_amount=False, out=out, clock=clock) as progress:
        clock.advance_ms(REDRAW_MS)
        progress.advance(10)
    assert f"measuring {'█' * 28} 100%\r" in out.getvalue()
