"""Idempotence: which batches of which producers are in the log already. Pure.

The state is part of the log: it is made from the batches' headers alone, live and in recovery.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from riverlog.records.batch import BatchHeader

# As many as a client may have unanswered; a repeated batch older than these cannot be a retry.
REMEMBERED_BATCHES = 5
_SEQUENCE_MAX = 2**31 - 1
# Of so many producers of one partition those silent for longest are forgotten: memory is bounded
# even where a client takes a new id for every batch.
PRODUCERS_MAX = 20_000
UNKNOWN_MS = -1
NO_EPOCH = -1


class OutOfOrderSequence(Exception):
    """Batches of this producer are missing before this one."""


class RefusedBefore(OutOfOrderSequence):
    """The disk refused an earlier batch of this producer, which has to come again first."""


class FencedProducer(Exception):
    """A newer instance of this producer has written; this one may not any more."""


class Written(NamedTuple):
    """A batch in the log."""

    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp_ms: int


class Remembered(NamedTuple):
    """A producer as checkpoints keep it; `last_append_ms` is -1 if nobody knows."""

    producer_id: int
    epoch: int
    batches: tuple[Written, ...]
    last_append_ms: int = UNKNOWN_MS


class Producer:
    """What is remembered of one producer in one partition.

    One without batches has none in the log; what it sends next must be at `next_sequence` still.
    `last_append_ms` is by our clock, whatever time its records claim; -1 if nobody knows.
    `refused_epoch` is that of a batch the disk refused, until another one is appended.
    """

    __slots__ = ("batches", "epoch", "last_append_ms", "next_sequence", "refused_epoch")

    def __init__(
        self, epoch: int, batches: deque[Written], next_sequence: int, last_append_ms: int
    ) -> None:
        self.epoch = epoch
        self.batches = batches
        self.next_sequence = next_sequence
        self.last_append_ms = last_append_ms
        self.refused_epoch = NO_EPOCH

    @property
    def first_sequence(self) -> int:
        """Where it began, as far as is remembered."""
        return self.batches[0].base_sequence if self.batches else self.next_sequence


class Producers:
    """The idempotent producers of one partition, those silent for longest first."""

    __slots__ = ("_by_id",)

    def __init__(self) -> None:
        self._by_id: dict[int, Producer] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[tuple[int, Producer]]:
        return iter(self._by_id.items())

    def find_duplicate(self, header: BatchHeader) -> Written | None:
        """The batch in the log that this one repeats, or None when it is to be appended.

        Raises `FencedProducer`, `RefusedBefore` or `OutOfOrderSequence` when it is neither. A
        producer that is not known may begin with any sequence: its earlier batches may have been
        removed.
        """
        producer = self._by_id.get(header.producer_id)
        if producer is None:
            return None
        if header.producer_epoch < producer.epoch:
            raise FencedProducer(
                f"producer {header.producer_id} wrote at epoch {producer.epoch} already, "
                f"{header.producer_epoch} is older"
            )
        if header.producer_epoch > producer.epoch:
            if header.base_sequence != 0:
                _check_refused(producer, header)
                raise OutOfOrderSequence(
                    f"a new epoch of producer {header.producer_id} begins at sequence 0, "
                    f"not {header.base_sequence}"
                )
            return None
        for written in producer.batches:
            if (written.base_sequence, written.last_sequence) == (
                header.base_sequence,
                header.last_sequence,
            ):
                return written
        if header.base_sequence != producer.next_sequence:
            _check_refused(producer, header)
            raise OutOfOrderSequence(
                f"producer {header.producer_id} should go on at sequence "
                f"{producer.next_sequence}, not {header.base_sequence}"
            )
        return None

    def apply(self, header: BatchHeader, now_ms: int) -> None:
        """Remembers a batch appended at `now_ms`; its header has the offsets it was given."""
        written = Written(
            header.base_sequence,
            header.last_sequence,
            header.base_offset,
            header.last_offset,
            header.max_timestamp_ms,
        )
        producer_id, epoch = header.producer_id, header.producer_epoch
        producer = self._by_id.pop(producer_id, None)
        if producer is None or producer.epoch != epoch:
            self.restore(Remembered(producer_id, epoch, (written,), now_ms))
        else:
            producer.batches.append(written)
            producer.next_sequence = following(written.last_sequence)
            producer.last_append_ms = now_ms
            producer.refused_epoch = NO_EPOCH
            self._by_id[producer_id] = producer

    def restore(self, kept: Remembered) -> None:
        """Puts back what a checkpoint kept."""
        batches = deque(kept.batches, maxlen=REMEMBERED_BATCHES)
        next_sequence = following(kept.batches[-1].last_sequence)
        self._keep(
            kept.producer_id, Producer(kept.epoch, batches, next_sequence, kept.last_append_ms)
        )

    def refuse(self, producer_id: int, epoch: int, sequence: int) -> None:
        """The disk refused a batch; a producer that is not known has to begin with it.

        Those sent after it may be under way already. They must not overtake it, and are refused
        for the same reason: told that they are out of order, librdkafka begins a new epoch and
        sends all that it has no answer for anew, even what is in the log.
        """
        producer = self._by_id.get(producer_id)
        if producer is None:
            nothing: deque[Written] = deque(maxlen=REMEMBERED_BATCHES)
            producer = Producer(epoch, nothing, sequence, UNKNOWN_MS)
            self._keep(producer_id, producer)
        producer.refused_epoch = epoch

    def miss(self, others: "Producers") -> None:
        """Those of `others` whose latest batches are not here have to send them again first."""
        for producer_id, other in others:
            known = self._by_id.get(producer_id)
            refused_epoch = other.refused_epoch
            if known is None or (known.epoch, known.next_sequence) != (
                other.epoch,
                other.next_sequence,
            ):
                self.refuse(producer_id, other.epoch, other.first_sequence)
                refused_epoch = max(refused_epoch, other.epoch)
            self._by_id[producer_id].refused_epoch = refused_epoch

    def expire(self, now_ms: int, silence_ms: int) -> int:
        """Forgets those that wrote nothing for longer than `silence_ms`; how many they were.

        A time that nobody knows, or that is yet to come, counts as now: the clock was set back.
        """
        for producer in self._by_id.values():
            if not 0 <= producer.last_append_ms <= now_ms:
                producer.last_append_ms = now_ms
        silent = [
            producer_id
            for producer_id, producer in self._by_id.items()
            if now_ms - producer.last_append_ms > silence_ms
        ]
        for producer_id in silent:
            del self._by_id[producer_id]
        return len(silent)

    def take_times(self, others: "Producers") -> None:
        """Takes over when producers last wrote, as far as `others` know it better."""
        for producer_id, other in others:
            known = self._by_id.get(producer_id)
            if known is not None:
                known.last_append_ms = max(known.last_append_ms, other.last_append_ms)

    def _keep(self, producer_id: int, producer: Producer) -> None:
        self._by_id[producer_id] = producer
        if len(self._by_id) > PRODUCERS_MAX:
            del self._by_id[next(iter(self._by_id))]


def _check_refused(producer: Producer, header: BatchHeader) -> None:
    if producer.refused_epoch == header.producer_epoch:
        raise RefusedBefore("the disk refused what this producer sent before")


def following(sequence: int) -> int:
    """The sequence after this one; 0 comes after 2**31 - 1."""
    return 0 if sequence == _SEQUENCE_MAX else sequence + 1
