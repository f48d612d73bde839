"""What may go wrong at a call to the simulated disk, and at which call."""

import errno
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, StrEnum


class PowerCut(BaseException):
    """The process ends at this call; everything it still tries on the disk ends the same way.

    Not an `Exception`, so that no error handling under test can live through it.
    """


class Op(StrEnum):
    """The calls of `Disk` and `File`; `close`, `size` and `exists` never fail and do not count."""

    OPEN = "open"
    CREATE = "create"
    READ = "read"
    WRITE = "write"
    SYNC = "sync"
    TRUNCATE = "truncate"
    RENAME = "rename"
    LINK = "link"
    REMOVE = "remove"
    MAKE_DIRECTORY = "make_directory"
    REMOVE_DIRECTORY = "remove_directory"
    LIST = "list"
    SYNC_DIRECTORY = "sync_directory"


CHANGES = frozenset(Op) - {Op.OPEN, Op.READ, Op.LIST}
"""The calls after which a power cut may leave something else than before them."""


class Effect(Enum):
    """What happens instead of, or after, the call."""

    EIO = errno.EIO
    """The call fails; a write may have written a part, a sync has spoilt what it should keep."""
    ENOSPC = errno.ENOSPC
    """As `EIO`, with the words of a full disk."""
    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"

    @property
    def is_error(self) -> bool:
        return isinstance(self.value, int)


def any_path(path: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Fault:
    """The `at`-th call of one of `ops` on a fitting path, and the `times - 1` such calls after it.

    `times=None` is for ever.
    """

    effect: Effect
    at: int = 1
    times: int | None = 1
    ops: frozenset[Op] = CHANGES
    fits: Callable[[str], bool] = any_path

    def strikes(self, count: int) -> bool:
        return self.at <= count and (self.times is None or count < self.at + self.times)


class Machine:
    """What a disk shares with its open files: the power switch, the call count and the faults."""

    def __init__(self) -> None:
        self.is_on = True
        self.changes = 0
        self.trace: deque[tuple[Op, str]] = deque(maxlen=1000)
        self._faults: list[Fault] = []
        self._counts: list[int] = []

    def inject(self, fault: Fault) -> None:
        self._faults.append(fault)
        self._counts.append(0)

    def clear_faults(self) -> None:
        self._faults.clear()
        self._counts.clear()

    def begin(self, op: Op, path: str) -> Effect | None:
        """Counts a call and says what shall happen to it; raises `PowerCut` where it ends here."""
        if not self.is_on:
            raise PowerCut(f"{op} {path} after the end")
        self.trace.append((op, path))
        if op in CHANGES:
            self.changes += 1
        effect = self._strike(op, path) if self._faults else None
        if effect is Effect.CRASH_BEFORE:
            self.is_on = False
            raise PowerCut(f"before change {self.changes}: {op} {path}")
        return effect

    def end(self, effect: Effect | None, op: Op, path: str) -> None:
        """Raises what `begin` decided."""
        if effect is None:
            return
        if effect is Effect.CRASH_AFTER:
            self.is_on = False
            raise PowerCut(f"after change {self.changes}: {op} {path}")
        raise failure(effect.value, path)

    @contextmanager
    def call(self, op: Op, path: str) -> Iterator[None]:
        """Runs the block as one call that, when it fails by a fault, changes nothing."""
        effect = self.begin(op, path)
        if effect is not None and effect.is_error:
            raise failure(effect.value, path)
        try:
            yield
        finally:
            self.end(effect, op, path)

    def _strike(self, op: Op, path: str) -> Effect | None:
        struck = None
        for index, fault in enumerate(self._faults):
            if op in fault.ops and fault.fits(path):
                self._counts[index] += 1
                if struck is None and fault.strikes(self._counts[index]):
                    struck = fault.effect
        return struck


def failure(code: int, path: str) -> OSError:
    """The error the operating system would raise: `FileNotFoundError` for `ENOENT`, and so on."""
    return OSError(code, os.strerror(code), path)
