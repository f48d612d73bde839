"""Opens batches of compacted topics out of the loop's way: every record there needs a key."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from riverlog.broker.admission import check_keys
from riverlog.broker.errors import RefusedRecords
from riverlog.records.batch import read_header
from riverlog.records.compression import Codec
from riverlog.records.crc import Buffer
from riverlog.records.errors import BatchError
from riverlog.stores.syncer import Outcome, Syncer

# A smaller one, if it is not compressed, is opened sooner than a thread could be asked to.
APART_BYTES_MIN = 4 << 10


class Opened(NamedTuple):
    """A batch was opened; `error` says why it is to be refused, if it is."""

    error: Exception | None


class Opening:
    """Opens one batch at a time, in a thread; tells of them in the order in which they came.

    It belongs to one event loop. As long as it `is_busy`, whatever is to keep its place behind
    them has to come here, too.
    """

    def __init__(self, syncer: Syncer) -> None:
        self._syncer = syncer
        self._waiting: deque[tuple[Buffer, Callable[[Opened], None]]] = deque()

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
        if len(self._waiting) == 1:
            self._begin()

    def _begin(self) -> None:
        batch, told = self._waiting[0]
        found: list[Opened] = []

        def work() -> None:
            try:
                check_keys(batch)
            except (BatchError, RefusedRecords) as error:
                # It remembers the frames it came through, and they all that they had inflated.
                error.__traceback__ = error.__cause__ = error.__context__ = None
                found.append(Opened(error))
            else:
                found.append(Opened(None))

        def done(_outcomes: list[Outcome]) -> None:
            # It is told while it still counts as busy: nobody comes in between.
            try:
                told(found[0])
            finally:
                self._waiting.popleft()
                if self._waiting:
                    self._begin()

        self._syncer.run_apart(work, done)
