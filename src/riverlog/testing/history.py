"""What was sent to a log, answered by it and read from it, and whether all that can be true.

A test records what its clients saw, in the order in which they saw it, reads every partition back
and calls `check`. An attempt without an answer is unknown: it may stand in the log or not, once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from riverlog.testing.history_events import (
    Acknowledged,
    Acks,
    BeganAt,
    Consumed,
    Event,
    MayGo,
    PowerLost,
    ReadBack,
    Record,
    Refused,
    Sent,
)

__all__ = ["Acks", "Anomaly", "History", "Kind", "Record", "check"]


class Kind(StrEnum):
    LOST = "{id} was acknowledged at {place} and is not there."
    MOVED = "{id} was acknowledged at {place} and stands at offset {other}."
    DOUBLED = "{id} stands at {place} and at offset {other}."
    REORDERED = "{id} at {place} stands before {other}, which was sent earlier."
    PHANTOM = "{id} at {place} was never sent to this partition."
    CHANGED = "{id} at {place} does not hold the bytes that were sent."
    ANSWERED_TWICE = "{place} was answered for {other} and later for {id}."
    UNHAPPENED = "{id} was read at {place} by {other} and is not there any more."
    REFUSED = "{id} was refused for certain and yet stands at {place}."
    TOO_MUCH_GONE = "{place} is the start, but only what stands before {other} was to go."
    WENT_BACK = "{place} is the start, after it was told that it is {other}."


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One thing that must not be; `other` is the second party where there is one."""

    kind: Kind
    partition: str
    offset: int
    record_id: str
    other: str = ""

    def describe(self) -> str:
        place = f"{self.partition}@{self.offset}"
        return self.kind.value.format(id=self.record_id, place=place, other=self.other)


class History:
    """The events of one run, in the order in which they were seen."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events = list(events)

    def sent(
        self, record_id: str, partition: str, payload: bytes, producer: str = "producer"
    ) -> None:
        self.events.append(Sent(record_id, partition, payload, producer))

    def acknowledged(self, record_id: str, offset: int, acks: Acks = Acks.ALL) -> None:
        self.events.append(Acknowledged(record_id, offset, acks))

    def refused(self, record_id: str) -> None:
        self.events.append(Refused(record_id))

    def consumed(self, reader: str, partition: str, record: Record) -> None:
        self.events.append(Consumed(reader, partition, record))

    def read_back(self, partition: str, records: Iterable[Record], start_offset: int = 0) -> None:
        self.events.append(ReadBack(partition, start_offset, tuple(records)))

    def may_go(self, partition: str, before_offset: int) -> None:
        self.events.append(MayGo(partition, before_offset))

    def began_at(self, partition: str, offset: int) -> None:
        self.events.append(BeganAt(partition, offset))

    def power_lost(self) -> None:
        self.events.append(PowerLost())


def check(history: History) -> list[Anomaly]:
    """Every anomaly of the run, in the order of discovery; none for a log that kept its promises.

    Raises `ValueError` for a history that proves nothing: a partition not read back after its last
    acknowledgement, an answer to what was never sent, two payloads under one id.
    """
    checker = _Checker()
    for event in history.events:
        checker.follow(event)
    checker.finish()
    return list(checker.anomalies)


@dataclass(slots=True)
class _Partition:
    """What has been promised about one partition so far."""

    acked: dict[int, Acknowledged]
    seen: dict[int, tuple[Record, str]]
    view: ReadBack | None = None
    may_go_before: int = 0
    start_offset: int = 0


class _Checker:
    def __init__(self) -> None:
        self.anomalies: dict[Anomaly, None] = {}
        self._sent: dict[str, Sent] = {}
        self._tries: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._acked_at: dict[str, int] = {}
        self._read_at: dict[str, int] = {}
        self._partitions: defaultdict[str, _Partition] = defaultdict(lambda: _Partition({}, {}))

    def follow(self, event: Event) -> None:
        match event:
            case Sent():
                if self._sent.setdefault(event.record_id, event) != event:
                    raise ValueError(f"{event.record_id} was sent as two different records")
                self._tries[event.record_id] += 1
            case Acknowledged():
                if event.acks is not Acks.NONE:
                    self._acknowledge(event, self._the_sent(event.record_id).partition)
            case Refused():
                self._the_sent(event.record_id)
                self._refused[event.record_id] += 1
            case Consumed():
                self._read(event.partition, event.record, event.reader)
            case ReadBack():
                self._read_back(event)
            case MayGo():
                partition = self._partitions[event.partition]
                partition.may_go_before = max(partition.may_go_before, event.before_offset)
            case BeganAt():
                self._begin(event.partition, event.offset)
            case PowerLost():
                self._void_weak_promises()

    def finish(self) -> None:
        for name, partition in self._partitions.items():
            if partition.acked and partition.view is None:
                raise ValueError(f"{name} was not read back after its last acknowledgement")
            if partition.view is not None:
                self._find_lost(partition, partition.view, frozenset(Acks))
        self._find_reordered()
        for record_id, offset in self._read_at.items():
            if record_id in self._sent and self._refused[record_id] == self._tries[record_id]:
                partition_name = self._sent[record_id].partition
                self._report(Kind.REFUSED, partition_name, offset, record_id)

    def _acknowledge(self, ack: Acknowledged, name: str) -> None:
        partition = self._partitions[name]
        partition.view = None
        before = partition.acked.setdefault(ack.offset, ack).record_id
        if before == ack.record_id and ack.acks is Acks.ALL:
            partition.acked[ack.offset] = ack
        if before == ack.record_id and ack.offset in partition.seen:
            before = partition.seen[ack.offset][0].record_id
        if before != ack.record_id:
            self._report(Kind.ANSWERED_TWICE, name, ack.offset, ack.record_id, before)
        first_at = self._acked_at.setdefault(ack.record_id, ack.offset)
        if first_at != ack.offset:
            self._report(Kind.DOUBLED, name, first_at, ack.record_id, str(ack.offset))
        read_at = self._read_at.get(ack.record_id, ack.offset)
        if read_at != ack.offset:
            self._report(Kind.MOVED, name, ack.offset, ack.record_id, str(read_at))

    def _read(self, name: str, record: Record, reader: str) -> None:
        partition, offset, record_id = self._partitions[name], record.offset, record.record_id
        sent = self._sent.get(record_id)
        if sent is None or sent.partition != name:
            self._report(Kind.PHANTOM, name, offset, record_id)
        elif sent.payload != record.payload:
            self._report(Kind.CHANGED, name, offset, record_id)
        before, _ = partition.seen.setdefault(offset, (record, reader))
        if before != record:
            self._report(Kind.ANSWERED_TWICE, name, offset, record_id, before.record_id)
        elif offset in partition.acked and partition.acked[offset].record_id != record_id:
            other = partition.acked[offset].record_id
            self._report(Kind.ANSWERED_TWICE, name, offset, record_id, other)
        first_at = self._read_at.setdefault(record_id, offset)
        if first_at != offset:
            self._report(Kind.DOUBLED, name, first_at, record_id, str(offset))
        acked_at = self._acked_at.get(record_id, offset)
        if acked_at != offset:
            self._report(Kind.MOVED, name, acked_at, record_id, str(offset))

    def _begin(self, name: str, offset: int) -> None:
        partition = self._partitions[name]
        if offset > partition.may_go_before:
            self._report(Kind.TOO_MUCH_GONE, name, offset, "", str(partition.may_go_before))
        if offset < partition.start_offset:
            self._report(Kind.WENT_BACK, name, offset, "", str(partition.start_offset))
        partition.start_offset = max(partition.start_offset, offset)

    def _read_back(self, view: ReadBack) -> None:
        partition = self._partitions[view.partition]
        held = {record.offset: record for record in view.records}
        for offset, (record, reader) in partition.seen.items():
            if offset >= view.start_offset and held.get(offset) != record:
                self._report(Kind.UNHAPPENED, view.partition, offset, record.record_id, reader)
        before = None
        for record in view.records:
            if before is not None and record.offset == before.offset:
                other = str(before.offset)
                self._report(Kind.DOUBLED, view.partition, record.offset, record.record_id, other)
            elif before is not None and record.offset < before.offset:
                place = (view.partition, record.offset, record.record_id, before.record_id)
                self._report(Kind.REORDERED, *place)
            before = record
            self._read(view.partition, record, "the read-back")
        partition.view = view
        self._find_lost(partition, view, frozenset({Acks.ALL}))

    def _find_lost(self, partition: _Partition, view: ReadBack, acks: frozenset[Acks]) -> None:
        held = {record.record_id for record in view.records}
        for offset, ack in partition.acked.items():
            # One that stands elsewhere is not lost; it has been reported as moved.
            if ack.acks in acks and offset >= view.start_offset and ack.record_id not in held:
                self._report(Kind.LOST, view.partition, offset, ack.record_id)

    def _find_reordered(self) -> None:
        last: dict[tuple[str, str], str] = {}
        for record_id, sent in self._sent.items():
            if record_id in self._acked_at:
                offset = self._acked_at[record_id]
                earlier = last.setdefault((sent.producer, sent.partition), record_id)
                if offset < self._acked_at[earlier]:
                    self._report(Kind.REORDERED, sent.partition, offset, record_id, earlier)
                else:
                    last[sent.producer, sent.partition] = record_id

    def _void_weak_promises(self) -> None:
        for partition in self._partitions.values():
            weak = [ack for ack in partition.acked.values() if ack.acks is not Acks.ALL]
            for ack in weak:
                del partition.acked[ack.offset]
                self._acked_at.pop(ack.record_id, None)

    def _the_sent(self, record_id: str) -> Sent:
        if record_id not in self._sent:
            raise ValueError(f"{record_id} was answered but never sent")
        return self._sent[record_id]

    def _report(
        self, kind: Kind, partition: str, offset: int, record_id: str, other: str = ""
    ) -> None:
        self.anomalies[Anomaly(kind, partition, offset, record_id, other)] = None
