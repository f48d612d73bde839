"""How far a long piece of work has come: a bar on a terminal, a line now and then elsewhere."""

import sys
from typing import TextIO

from riverlog.cli.tables import size_text
from riverlog.runtime.clock import Clock, SystemClock

BAR_LETTERS = 28
REDRAW_MS = 100
LINE_MS = 10_000
_CLEAR_LINE = "\r\x1b[2K"


class Progress:
    """Tells on standard error how much of `total` is done; use it in a `with` block.

    Where the amounts mean nothing to people, `shows_amount=False` leaves the bar alone.

    `advance` may be called as often as one likes: most calls only add. Nothing stays on the
    terminal at the end, so that standard error holds what matters.
    """

    def __init__(
        self,
        title: str,
        total: int | None = None,
        *,
        in_bytes: bool = False,
        shows_amount: bool = True,
        out: TextIO | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._title = title
        self._total = total
        self._in_bytes = in_bytes
        self._shows_amount = shows_amount
        self._out = out or sys.stderr
        self._clock = clock or SystemClock()
        self._is_terminal = self._out.isatty()
        self._interval_ms = REDRAW_MS if self._is_terminal else LINE_MS
        self._start_ms = self._told_ms = self._clock.monotonic_ms()
        self.done = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            self._write(_CLEAR_LINE)

    def advance(self, amount: int = 1) -> None:
        """Tells that so much more is done."""
        self.reach(self.done + amount)

    def reach(self, done: int) -> None:
        """Tells that so much is done in all."""
        self.done = done
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._told_ms >= self._interval_ms:
            self._told_ms = now_ms
            line = self._line(now_ms)
            self._write(f"{_CLEAR_LINE}{line}" if self._is_terminal else f"{line}\n")

    def _line(self, now_ms: int) -> str:
        rate = self.done * 1000 // max(now_ms - self._start_ms, 1)
        counted = f"{self._amount(self.done)}, {self._amount(rate)}/s"
        parts = [self._title]
        if self._total:
            share = min(self.done / self._total, 1.0)
            parts += [("█" * int(share * BAR_LETTERS)).ljust(BAR_LETTERS, "░"), f"{share:4.0%}"]
        if self._shows_amount:
            parts.append(counted)
        return " ".join(parts)

    def _amount(self, amount: int) -> str:
        return size_text(amount) if self._in_bytes else f"{amount:,}"

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
