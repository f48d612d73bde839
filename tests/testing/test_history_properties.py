"""A random history is what random deeds on a log without flaws look like from outside.

It has no anomaly, and whatever single thing is corrupted in it is found.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.testing.history import Acks, History, Kind, Record, check
from riverlog.testing.history_events import (
    Acknowledged,
    BeganAt,
    Consumed,
    Event,
    MayGo,
    ReadBack,
    Refused,
    Sent,
)

PARTITIONS = ("t-0", "t-1")
OUTCOMES = ("all", "one", "none", "unknown", "unknown gone", "refused", "tried again")
deeds = st.one_of(
    st.tuples(st.just("send"), st.sampled_from(PARTITIONS), st.sampled_from(OUTCOMES)),
    st.tuples(st.just("consume"), st.sampled_from(PARTITIONS), st.sampled_from(("r", "q"))),
    st.tuples(st.just("read back"), st.sampled_from(PARTITIONS), st.just("")),
    st.tuples(st.just("skip offset"), st.sampled_from(PARTITIONS), st.just("")),
    st.tuples(st.just("retire"), st.sampled_from(PARTITIONS), st.just("")),
    st.tuples(st.just("power cut"), st.just(""), st.just("")),
)
# Each corruption below finds something to corrupt after these.
FIRST_DEEDS = [
    ("send", "t-0", "all"),
    ("consume", "t-0", "r"),
    ("send", "t-0", "all"),
    ("send", "t-0", "refused"),
]
histories = st.builds(
    lambda random_deeds, chance: played(random_deeds + FIRST_DEEDS, chance),
    st.lists(deeds, max_size=25),
    st.randoms(use_true_random=False),
)


class FlawlessLog:
    def __init__(self) -> None:
        self.records: list[Record] = []
        self.start_offset = 0
        self.end_offset = 0
        self.safe_count = 0

    def append(self, record_id: str) -> int:
        offset = self.end_offset
        self.records.append(Record(offset, record_id, record_id.encode()))
        self.end_offset += 1
        return offset

    def make_safe(self) -> None:
        self.safe_count = len(self.records)

    def cut_power(self, chance: Random) -> None:
        kept = chance.randint(self.safe_count, len(self.records))
        if kept < len(self.records):
            self.end_offset = self.records[kept].offset
        del self.records[kept:]


def played(random_deeds: list[tuple[str, str, str]], chance: Random) -> History:
    history, logs = History(), {partition: FlawlessLog() for partition in PARTITIONS}
    for number, (deed, partition, how) in enumerate(random_deeds):
        if deed == "power cut":
            history.power_lost()
            for log in logs.values():
                log.cut_power(chance)
            continue
        log = logs[partition]
        if deed == "send":
            play_send(history, log, partition, f"record {number}", how)
        elif deed == "consume" and log.records:
            log.make_safe()
            history.consumed(how, partition, chance.choice(log.records))
        elif deed == "read back":
            log.make_safe()
            history.read_back(partition, log.records, log.start_offset)
        elif deed == "skip offset":
            log.end_offset += 1
        elif deed == "retire" and log.safe_count > 1:
            log.start_offset = log.records[1].offset
            del log.records[0]
            log.safe_count -= 1
    for partition, log in logs.items():
        history.read_back(partition, log.records, log.start_offset)
    return history


def play_send(history: History, log: FlawlessLog, partition: str, name: str, how: str) -> None:
    history.sent(name, partition, name.encode())
    if how == "refused":
        history.refused(name)
        return
    if how == "tried again":
        history.sent(name, partition, name.encode())
        history.refused(name)
    if how == "unknown gone":
        return
    offset = log.append(name)
    if how in ("all", "tried again"):
        log.make_safe()
        history.acknowledged(name, offset)
    elif how in ("one", "none"):
        history.acknowledged(name, offset, Acks.ONE if how == "one" else Acks.NONE)


def the_last_view(history: History) -> tuple[int, ReadBack]:
    """The final read-back of t-0, and where it stands among the events."""
    found = [(n, e) for n, e in enumerate(history.events) if isinstance(e, ReadBack)]
    return next((n, view) for n, view in reversed(found) if view.partition == "t-0")


def seeing(history: History, change: Callable[[list[Record]], None]) -> History:
    at, view = the_last_view(history)
    records = list(view.records)
    change(records)
    events: list[Event] = list(history.events)
    events[at] = replace(view, records=tuple(records))
    return History(events)


def promised(history: History) -> list[int]:
    """Where in the final view of t-0 the records acknowledged with acks=all stand."""
    acked = {e.record_id for e in history.events if isinstance(e, Acknowledged) and e.acks == "all"}
    _, view = the_last_view(history)
    return [n for n, record in enumerate(view.records) if record.record_id in acked]


def lose(history: History, chance: Random) -> History:
    return seeing(history, lambda records: records.__delitem__(chance.choice(promised(history))))


def move(history: History, chance: Random) -> History:
    def change(records: list[Record]) -> None:
        record = records.pop(chance.choice(promised(history)))
        records.append(replace(record, offset=10_000))

    return seeing(history, change)


def double(history: History, chance: Random) -> History:
    def change(records: list[Record]) -> None:
        records.append(replace(chance.choice(records), offset=10_000))

    return seeing(history, change)


def reorder(history: History, chance: Random) -> History:
    acked = [record for event in history.events if isinstance(record := event, Acknowledged)]
    one_try = [e for e in history.events if isinstance(e, Sent) and history.events.count(e) == 1]
    kept = {ack.record_id for ack in acked if ack.acks is Acks.ALL}
    choice = [sent for sent in one_try if sent.record_id in kept and sent.partition == "t-0"]
    first, second = sorted(chance.sample(range(len(choice)), 2))
    swapped = [choice[second], choice[first]]
    return History([*swapped, *(event for event in history.events if event not in swapped)])


def invent(history: History, chance: Random) -> History:
    return seeing(history, lambda records: records.append(Record(10_000, "invented", b"")))


def spoil(history: History, chance: Random) -> History:
    def change(records: list[Record]) -> None:
        n = chance.randrange(len(records))
        records[n] = replace(records[n], payload=b"spoilt")

    return seeing(history, change)


def answer_again(history: History, chance: Random) -> History:
    _, view = the_last_view(history)
    offset = view.records[chance.choice(promised(history))].offset
    events: list[Event] = [
        Sent("late", "t-0", b"", "other"),
        Acknowledged("late", offset, Acks.ALL),
    ]
    at, _ = the_last_view(history)
    return History([*history.events[:at], *events, *history.events[at:]])


def unhappen(history: History, chance: Random) -> History:
    consumed = {e.record.record_id for e in history.events if isinstance(e, Consumed)}
    _, view = the_last_view(history)
    choice = [n for n, record in enumerate(view.records) if record.record_id in consumed]
    return seeing(history, lambda records: records.__delitem__(chance.choice(choice)))


def admit(history: History, chance: Random) -> History:
    tries = [e.record_id for e in history.events if isinstance(e, Sent) and e.partition == "t-0"]
    refused = {e.record_id for e in history.events if isinstance(e, Refused)}
    name = chance.choice([name for name in tries if name in refused and tries.count(name) == 1])
    return seeing(history, lambda records: records.append(Record(10_000, name, name.encode())))


def let_too_much_go(history: History, chance: Random) -> History:
    return History([*history.events, BeganAt("t-0", chance.randint(1, 9))])


def go_back(history: History, chance: Random) -> History:
    start = chance.randint(1, 9)
    told: list[Event] = [MayGo("t-0", start), BeganAt("t-0", start), BeganAt("t-0", start - 1)]
    return History([*history.events, *told])


CORRUPTIONS = {
    Kind.LOST: lose,
    Kind.MOVED: move,
    Kind.DOUBLED: double,
    Kind.REORDERED: reorder,
    Kind.PHANTOM: invent,
    Kind.CHANGED: spoil,
    Kind.ANSWERED_TWICE: answer_again,
    Kind.UNHAPPENED: unhappen,
    Kind.REFUSED: admit,
    Kind.TOO_MUCH_GONE: let_too_much_go,
    Kind.WENT_BACK: go_back,
}


@given(histories)
def test_no_random_history_of_a_flawless_log_has_an_anomaly(history: History) -> None:
    assert check(history) == []


@pytest.mark.parametrize("kind", Kind)
@given(history=histories, chance=st.randoms(use_true_random=False))
def test_every_corruption_of_a_random_history_is_found(
    kind: Kind, history: History, chance: Random
) -> None:
    assert kind in {anomaly.kind for anomaly in check(CORRUPTIONS[kind](history, chance))}
