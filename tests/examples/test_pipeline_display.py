"""What the demonstration shows while it runs: on a terminal, and in a pipe."""

import io

from examples.pipeline.display import LINE_MS, Display, bar

from riverlog.testing.manual_clock import ManualClock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_step_says_how_long_it_took() -> None:
    out, clock = io.StringIO(), ManualClock()
    display = Display(out, clock)

    clock.advance_ms(1500)
    display.step("broker", "127.0.0.1:9092")

    assert out.getvalue() == "✓ broker         127.0.0.1:9092 (1.5 s)\n"


def test_in_a_pipe_a_line_comes_every_few_seconds() -> None:
    out, clock = io.StringIO(), ManualClock()
    display = Display(out, clock)

    for _ in range(10):
        clock.advance_ms(LINE_MS // 5)
        display.live("lag 7")

    assert out.getvalue() == "… lag 7\n" * 2


def test_on_a_terminal_the_live_line_never_wraps_and_gives_way_to_a_step() -> None:
    out = Terminal()
    display = Display(out, ManualClock())

    display.live("lag " * 500)
    live = out.getvalue()
    display.step("check", "right")

    assert "\n" not in live
    assert len(live) < 1000
    assert out.getvalue().endswith("\r\x1b[2K✓ check          right (0.0 s)\n")


def test_a_bar_is_as_long_as_its_share() -> None:
    assert bar(0.25) == "█████░░░░░░░░░░░░░░░  25%"
    assert bar(1.2) == "████████████████████ 100%"
