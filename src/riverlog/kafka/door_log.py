"""What the door says of clients that misbehave: a few lines of each kind, and then how many."""

import asyncio
from collections.abc import Callable

from riverlog.runtime.logs import Log

LINES_MAX = 10
WINDOW_S = 10.0


class DoorLog:
    """A log that a flood of clients cannot flood; belongs to one event loop.

    Of each phrase ten lines are written within ten seconds. The first line after that says how
    many were left out.
    """

    __slots__ = ("_log", "_told")

    def __init__(self, log: Log) -> None:
        self._log = log
        # By phrase: when its window ends, how many lines came in it, how many were left out.
        self._told: dict[str, tuple[float, int, int]] = {}

    def info(self, phrase: str, client: str, reason: str) -> None:
        """What an operator would want to know at night."""
        self._tell(self._log.info, phrase, client=client, reason=reason)

    def warning(self, phrase: str, client: str) -> None:
        """Someone should look."""
        self._tell(self._log.warning, phrase, client=client)

    def _tell(self, write: Callable[..., None], phrase: str, **fields: object) -> None:
        now_s = asyncio.get_running_loop().time()
        ends_s, lines, left_out = self._told.get(phrase, (now_s + WINDOW_S, 0, 0))
        if now_s >= ends_s:
            ends_s, lines = now_s + WINDOW_S, 0
        if lines >= LINES_MAX:
            self._told[phrase] = ends_s, lines, left_out + 1
            return
        self._told[phrase] = ends_s, lines + 1, 0
        if left_out:
            fields["left_out_before"] = left_out
        write(phrase, **fields)
