"""One thing that goes wrong, and how often it did."""

import asyncio
from typing import Protocol

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.error_codes import ErrorCode


class Removing(Protocol):
    """Whoever keeps faults."""

    def remove(self, fault: "Fault") -> None:
        """Has it hit nothing from now on."""


class Fault:
    """One thing that goes wrong, for the next `times` requests of an API or until `remove`.

    Attributes:
        struck: How many requests it has hit.
    """

    def __init__(self, faults: "Removing", key: ApiKey, times: int | None) -> None:
        self._faults = faults
        self.key = key
        self._times = times
        self.struck = 0
        self.delay_ms = 0
        self.error = ErrorCode.NONE
        self.hangs_up_before = False
        self.hangs_up_after = False
        self.waiting: set[asyncio.Future[None]] = set()

    @property
    def is_due(self) -> bool:
        """Whether it hits the next request."""
        return self._times is None or self.struck < self._times

    def remove(self) -> None:
        """Hits nothing from now on, and holds nothing back; a second removal does nothing."""
        self._faults.remove(self)

    def let_go(self) -> None:
        """Has the replies that it holds back leave; for the broker's own loop to call."""
        for over in self.waiting:
            end(over)

    def __enter__(self) -> "Fault":
        return self

    def __exit__(self, *raised: object) -> None:
        self.remove()


def end(over: "asyncio.Future[None]") -> None:
    """Ends a wait, unless it has ended by itself."""
    if not over.done():
        over.set_result(None)
