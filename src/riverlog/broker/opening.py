"""Opens batches of compacted topics out of the loop's way: every record there needs a key.

A thread of its own is not enough: on a machine with few processors it is in the way of others' for
as long as the system lets it run. So a batch that took long to open lets the next one wait.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from riverlog.broker.admission import check_keys
from riverlog.broker.errors import RefusedRecords
from riverlog.records.batch import read_header
from riverlog.records.compression import Codec
from riverlog.records.crc import Buffer
from riverlog.records.errors import BatchError
from riverlog.runtime.clock import worked_s
from riverlog.stores.syncer import Outcome, Syncer

# A smaller one, if it is not compressed, is opened sooner than a thread could be asked to.
APART_BYTES_MIN = 4 << 10


def no_rest(_took_s: float) -> float:
    """Nobody else wants the processor."""
    return 0.0


class Opened(NamedTuple):
    """A batch was opened; `error` says why it is to be refused, if it is."""

    error: Exception | None


class Opening:
    """Opens one batch at a time, in a thread; tells of them in the order in which they came.

    It belongs to one event loop. As long as it `is_busy`, whatever is to keep its place behind
    them has to come here, too. `rest_s` says how long to rest after a batch that took so many
    seconds of a processor's time to open.
    """

    def __init__(self, syncer: Syncer) -> None:
        self._syncer = syncer
        self._waiting: deque[tuple[Buffer, Callable[[Opened], None]]] = deque()
        self._is_resting = False
        self._is_closed = False
        self.rest_s: Callable[[float], float] = no_rest

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    def takes(self, batch: Buffer) -> bool:
        """Whether this batch is to be opened here, and not at once."""
        if self.is_busy or len(batch) > APART_BYTES_MIN:
            return True
        try:
            return read_header(batch).codec is not Codec.NONE
        except BatchError:
            return False

    def open(self, batch: Buffer, told: Callable[[Opened], None]) -> None:
        """Tells, in the loop, what came of it."""
        self._waiting.append((batch, told))
        if len(self._waiting) == 1 and not self._is_resting:
            self._begin()

    def close(self) -> None:
        """Begins nothing more; of what still waits nobody is told."""
        self._is_closed = True

    def _begin(self) -> None:
        self._is_resting = False
        if self._is_closed or not self._waiting:
            return
        batch, told = self._waiting[0]
        found: list[Opened] = []
        took_s = 0.0

        def work() -> None:
            nonlocal took_s
            began_s = worked_s()
            try:
                check_keys(batch)
            except (BatchError, RefusedRecords) as error:
                # It remembers the frames it came through, and they all that they had inflated.
                error.__traceback__ = error.__cause__ = error.__context__ = None
                found.append(Opened(error))
            else:
                found.append(Opened(None))
            took_s = worked_s() - began_s

        def done(_outcomes: list[Outcome]) -> None:
            # It is told while it still counts as busy: nobody comes in between.
            try:
                told(found[0])
            finally:
                self._waiting.popleft()
                self._rest(self.rest_s(took_s))

        self._syncer.run_apart(work, done)

    def _rest(self, rest_s: float) -> None:
        if rest_s > 0:
            self._is_resting = True
            asyncio.get_running_loop().call_later(rest_s, self._begin)
        else:
            self._begin()
