"""The records of one partition on their way to its leader: in order, none lost, none twice.

Batches carry sequence numbers, and the broker takes no batch out of sequence and none twice. So up
to five may be under way at once; when one is not taken, all answers are awaited, and what is left
is sent again from the first on, with the same numbers. A batch that is given up leaves a gap that
the broker would never pass: the lane then goes on under a new producer id. A broker that has
nothing of a producer takes any batch for its first, so the first one goes alone. Decides only;
whoever owns a lane sends and listens.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from riverlog.client.connection import ConnectionLost
from riverlog.client.errors import ClientError, TimedOut, TooLarge, Unconfirmed, Unreachable
from riverlog.client.waiting import Backoff, Deadline
from riverlog.records.record import Headers, Record

# As many as brokers remember to tell a batch that comes again from a new one.
IN_FLIGHT_MAX = 5
TRY_MS_MIN = 50

# Skips the named tuple's own constructor, which is Python code.
_new = tuple.__new__
_SEQUENCE_MAX = 2**31


class Identity(NamedTuple):
    """Who numbers the batches: given by a broker, never used by anyone else."""

    producer_id: int
    epoch: int


class Miss(Enum):
    """Why a batch was not taken."""

    PASSING = auto()  # Certainly not in the log; it may be taken if it is sent again.
    UNCERTAIN = auto()  # Nobody knows; the broker will, if it is sent again.
    IDENTITY = auto()  # The broker does not know what it had from us before.
    OVERSIZED = auto()  # Too many bytes at once.
    FINAL = auto()  # Never to be taken.


class Batch:
    """Records that are sent, and end up in the log, together."""

    __slots__ = (
        "base_offset", "base_sequence", "deadline", "done", "encoded", "error", "halves",
        "is_uncertain", "miss", "records", "size_bytes", "was_tried",
    )  # fmt: skip

    def __init__(self, deadline: Deadline, done: asyncio.Future[None]) -> None:
        self.deadline = deadline
        # Set once the fate of every record is known; it never raises.
        self.done = done
        self.records: list[Record] = []
        self.size_bytes = 0
        self.base_sequence: int | None = None
        self.encoded: bytes | None = None
        self.was_tried = False
        self.is_uncertain = False
        self.miss: Miss | None = None
        self.base_offset = -1
        self.error: ClientError | None = None
        self.halves: tuple[Batch, Batch] | None = None

    def offset_of(self, index: int) -> int:
        """Where a record went; raises what kept it from going there."""
        if self.halves is not None:
            left, right = self.halves
            count = len(left.records)
            return left.offset_of(index) if index < count else right.offset_of(index - count)
        if self.error is not None:
            raise self.error
        return self.base_offset + index if self.base_offset >= 0 else -1

    def finish(self, base_offset: int, error: ClientError | None = None) -> None:
        self.base_offset = base_offset
        self.error = error
        self.encoded = None
        if not self.done.done():
            self.done.set_result(None)


class Lane:
    """What waits for one partition, and what is under way to it."""

    def __init__(
        self,
        topic: str,
        partition: int,
        batch_bytes_max: int,
        backoff: Backoff,
        new_future: Callable[[], asyncio.Future[None]],
    ) -> None:
        self.topic = topic
        self.partition = partition
        # Who numbers the batches now, and who did before; the latter never may again.
        self.identity: Identity | None = None
        self.spent: Identity | None = None
        self.resume_ms = 0
        self._batch_bytes_max = batch_bytes_max
        self._backoff = backoff
        self._new_future = new_future
        self._unsent: deque[Batch] = deque()
        self._sent: list[Batch] = []
        self._unanswered = 0
        self._next_sequence = 0
        # Whether the partition has a batch of this identity, and so knows what comes next.
        self._is_known = False
        self._trouble: Exception | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not self._unsent and not self._sent

    def add(
        self,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        size_bytes: int,
        deadline: Deadline,
    ) -> tuple[Batch, int]:
        """Queues a record behind those before it: its batch, and its place in that."""
        batch = self._unsent[-1] if self._unsent else None
        if (
            batch is None
            or batch.was_tried
            or batch.size_bytes + size_bytes > self._batch_bytes_max
        ):
            batch = Batch(deadline, self._new_future())
            self._unsent.append(batch)
        index = len(batch.records)
        batch.records.append(_new(Record, (index, timestamp_ms, key, value, headers)))
        batch.size_bytes += size_bytes
        return batch, index

    def take(self, now_ms: int) -> Batch | None:
        """The next batch to send, numbered; None while there is none or it has to wait."""
        if self._unanswered < len(self._sent) or now_ms < self.resume_ms:
            return None
        while (
            self._unsent and not self._unsent[0].was_tried and self._unsent[0].deadline.has_passed
        ):
            self._unsent.popleft().finish(-1, self._given_up())
        if not self._unsent or self._unanswered >= (IN_FLIGHT_MAX if self._is_known else 1):
            return None
        batch = self._unsent.popleft()
        if batch.base_sequence is None:
            batch.base_sequence = self._next_sequence
            self._next_sequence = (self._next_sequence + len(batch.records)) % _SEQUENCE_MAX
        batch.was_tried = True
        batch.miss = None
        self._sent.append(batch)
        self._unanswered += 1
        return batch

    def confirm(self, batch: Batch, base_offset: int, now_ms: int) -> None:
        """The batch is in the log."""
        self._sent.remove(batch)
        self._unanswered -= 1
        self._is_known = True
        self._trouble = None
        self._backoff.reset()
        batch.finish(base_offset)
        self._settle(now_ms)

    def missed(self, batch: Batch, miss: Miss, trouble: Exception | None, now_ms: int) -> None:
        """The batch was not taken. Without `trouble` it may be sent again at once."""
        batch.miss = miss
        batch.is_uncertain |= miss is Miss.UNCERTAIN
        self._unanswered -= 1
        if trouble is not None and (self._trouble is None or batch is self._sent[0]):
            self._trouble = trouble
        self._settle(now_ms)

    def abandon(self, error: ClientError) -> None:
        """Everything that waits or is under way fails."""
        for batch in (*self._sent, *self._unsent):
            batch.finish(-1, Unconfirmed(str(error)) if batch in self._sent else error)
        self._sent.clear()
        self._unsent.clear()
        self._unanswered = 0

    def _settle(self, now_ms: int) -> None:
        """Once all answers are in: decides about the first that was missed, and goes back to it."""
        if self._unanswered or not self._sent:
            return
        head = self._sent[0]
        self._unsent.extendleft(reversed(self._sent))
        self._sent.clear()
        trouble = self._trouble
        if head.miss in (Miss.FINAL, Miss.OVERSIZED):
            # It was this batch's own trouble; those behind it need not wait.
            self._trouble = None
            if head.miss is Miss.FINAL:
                self._drop_head(trouble)
            else:
                self._split_head(trouble)
            return
        if head.miss is Miss.IDENTITY:
            if head.is_uncertain:
                self._drop_head(trouble)
            else:
                self._renew()
        pause_ms = 0 if trouble is None else self._backoff.next_ms()
        # A try that has no time left would only make a certain failure an uncertain one.
        while (
            self._unsent
            and self._unsent[0].was_tried
            and self._unsent[0].deadline.left_ms < pause_ms + TRY_MS_MIN
        ):
            self._drop_head(self._given_up())
        self.resume_ms = now_ms + pause_ms

    def _drop_head(self, trouble: Exception | None) -> None:
        head = self._unsent.popleft()
        if head.is_uncertain:
            head.finish(-1, _unconfirmed(trouble))
            # Those behind it may be in the log too, if it is.
            for batch in [batch for batch in self._unsent if batch.is_uncertain]:
                self._unsent.remove(batch)
                batch.finish(-1, _unconfirmed(trouble))
        else:
            head.finish(-1, trouble if isinstance(trouble, ClientError) else self._given_up())
        self._renew()

    def _split_head(self, trouble: Exception | None) -> None:
        head = self._unsent[0]
        if len(head.records) == 1 or head.is_uncertain:
            self._drop_head(trouble or TooLarge("the record is too large"))
            return
        self._unsent.popleft()
        middle = len(head.records) // 2
        left = self._half(head, head.records[:middle])
        right = self._half(head, head.records[middle:])
        head.halves = (left, right)

        def finish_whole(_: object) -> None:
            if left.done.done() and right.done.done():
                head.finish(-1)

        left.done.add_done_callback(finish_whole)
        right.done.add_done_callback(finish_whole)
        self._unsent.extendleft((right, left))
        self._batch_bytes_max = max(1, head.size_bytes // 2)
        self._renew()

    def _half(self, whole: Batch, records: list[Record]) -> Batch:
        half = Batch(whole.deadline, self._new_future())
        half.records = [record._replace(offset=index) for index, record in enumerate(records)]
        half.size_bytes = whole.size_bytes // 2
        half.was_tried = True
        return half

    def _renew(self) -> None:
        """Nothing of what is left is in the log: it is numbered anew, under a new producer id."""
        self.spent = self.identity or self.spent
        self.identity = None
        self._next_sequence = 0
        self._is_known = False
        for batch in self._unsent:
            batch.base_sequence = None
            batch.encoded = None
            batch.is_uncertain = False

    def _given_up(self) -> ClientError:
        trouble = self._trouble
        if isinstance(trouble, ClientError):
            return trouble
        if isinstance(trouble, ConnectionLost):
            return Unreachable(str(trouble))
        return TimedOut(f"{self.topic}/{self.partition} took no record in time")


def _unconfirmed(trouble: Exception | None) -> Unconfirmed:
    return Unconfirmed(f"the record may or may not have been written: {trouble or 'no answer'}")
