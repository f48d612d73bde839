"""What people see meanwhile: a line for each step that is done, and a live one below."""

import sys
from shutil import get_terminal_size
from typing import TextIO

from riverlog.runtime.clock import Clock, SystemClock

BAR_LETTERS = 20
LINE_MS = 5000
_CLEAR_LINE = "\r\x1b[2K"
_NAME_LETTERS = 14


class Display:
    """Steps as they are done; on a terminal the last line moves, in a pipe one comes at times."""

    def __init__(self, out: TextIO | None = None, clock: Clock | None = None) -> None:
        self._out = out or sys.stdout
        self._clock = clock or SystemClock()
        self._is_terminal = self._out.isatty()
        self._step_ms = self._told_ms = self._clock.monotonic_ms()

    def title(self, text: str) -> None:
        """What this is all about."""
        self._write(f"{text}\n")

    def step(self, name: str, text: str, mark: str = "✓") -> None:
        """Something is done; says how long it took since the one before."""
        now_ms = self._clock.monotonic_ms()
        took_s = (now_ms - self._step_ms) / 1000
        self._step_ms = now_ms
        clear = _CLEAR_LINE if self._is_terminal else ""
        self._write(f"{clear}{mark} {name.ljust(_NAME_LETTERS)} {text} ({took_s:.1f} s)\n")

    def more(self, name: str, text: str) -> None:
        """A line that belongs to the step before it."""
        self._write(f"  {name.ljust(_NAME_LETTERS)} {text}\n")

    def live(self, text: str) -> None:
        """How it stands; may be called as often as one likes."""
        now_ms = self._clock.monotonic_ms()
        if self._is_terminal:
            # A line that wraps could not be cleared.
            width = get_terminal_size().columns - 1
            self._write(f"{_CLEAR_LINE}{f'… {text}'[:width]}")
        elif now_ms - self._told_ms >= LINE_MS:
            self._told_ms = now_ms
            self._write(f"… {text}\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def bar(share: float) -> str:
    """A share as a bar with its percentage."""
    full = int(min(share, 1.0) * BAR_LETTERS)
    return f"{'█' * full}{'░' * (BAR_LETTERS - full)} {min(share, 1.0):4.0%}"
