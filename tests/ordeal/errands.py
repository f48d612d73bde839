"""Everything but plain writing and reading that clients do to a broker, in each of its lives."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from random import Random

from riverlog.protocol.error_codes import ErrorCode
from riverlog.testing.history import Acks, History
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import RawConnection, connected
from tests.crash_real.waiting import WAIT_S_MAX
from tests.crash_real.wire import Wire
from tests.ordeal import office
from tests.ordeal.registers import Registers

WIDE = 6
GROUPS = ("billing", "mail")
PASSING_SEGMENT_BYTES, PASSING_BYTES = 20_000, 60_000
# No batch has more than this beside the payloads of its records.
OVERHEAD_BYTES = 200
PAYLOAD_BYTES_MAX = 3_000
# Above what the journal takes of one partition at a time.
LARGE_PAYLOAD_BYTES = 70_000
LARGE_SHARE = 0.02
DOOMED_SHARE = 0.5

AUTO_PARTITIONS = 4
# So long that nothing goes by its age: these records say that they are years old.
DEFAULT_RETENTION_MS, FIRST_RETENTION_MS = "-1", "9876543210000"
TOPIC_PAUSE_S = 0.03

ABIDING = {"wide": WIDE, "passing": 1}


class Errands:
    """Runs one thread for each errand from `begin` to `end`, which is one life of the broker.

    All that is sent, asked and answered goes into `history` and the registers. `unexpected` holds
    what was refused although nothing was wrong.
    """

    def __init__(self, broker: BrokerProcess, history: History, chance: Random) -> None:
        self.history = history
        self.topics = Registers("topic")
        self.retention = Registers("retention.ms of")
        self.offsets = Registers("offset of")
        self.unexpected: list[str] = []
        self.kept_topics: dict[str, int] = {}
        self.done: Counter[str] = Counter()
        self._broker = broker
        self._chance = chance
        self._life = 0
        self._is_sound = True
        self._ends = threading.Event()
        self._threads: list[threading.Thread] = []
        self._passing: deque[tuple[int, int]] = deque()
        self._passing_bytes = 0
        self._doomed: list[str] = []
        self._errands = (self._write_wide, self._write_and_forget, self._make_topics, self._commit)

    def prepare(self, wire: Wire) -> None:
        """Makes the topics that stay."""
        wire.create_topic("wide", WIDE)
        wire.create_topic(
            "passing",
            segment_bytes=str(PASSING_SEGMENT_BYTES),
            retention_bytes=str(PASSING_BYTES),
            file_delete_delay_ms="50",
        )

    def begin(self) -> None:
        """The broker is there; every errand begins."""
        self._life += 1
        self._is_sound = True
        self._ends.clear()
        self._threads = [
            threading.Thread(
                target=self._run,
                args=(errand, Random(self._chance.random())),
                name=errand.__name__.strip("_"),
                daemon=True,
            )
            for errand in self._errands
        ]
        for thread in self._threads:
            thread.start()

    def may_be_refused(self) -> None:
        """From here on the broker may refuse everything, or be gone, until the next `begin`."""
        self._is_sound = False

    def end(self) -> None:
        """Nothing more is sent, and every answer is known, when it returns."""
        self._ends.set()
        for thread in self._threads:
            thread.join(WAIT_S_MAX)
            assert not thread.is_alive(), f"{thread.name} does not end"

    def undone(self) -> list[str]:
        """Errands that have never come to a good end: they prove nothing."""
        return [errand.__name__ for errand in self._errands if not self.done[errand.__name__]]

    def complaints(self) -> list[str]:
        """What was found in registers and cannot be."""
        registers = (self.topics, self.retention, self.offsets)
        return [complaint for register in registers for complaint in register.complaints]

    def _run(
        self, errand: Callable[[Wire, RawConnection, Random, str], None], chance: Random
    ) -> None:
        number = 0
        try:
            with connected(self._broker) as connection:
                wire = Wire(connection, self.history)
                while not self._ends.is_set():
                    number += 1
                    errand(wire, connection, chance, f"{self._life}.{number}")
                    self.done[errand.__name__] += 1
        except Exception as failure:  # noqa: BLE001  # told in `unexpected`, if it is one
            if self._is_sound and not self._ends.is_set():
                self.unexpected.append(f"{errand.__name__} failed: {failure!r}")

    def _write_wide(self, wire: Wire, _: RawConnection, chance: Random, number: str) -> None:
        """To several partitions at once, so that the journal has to keep them."""
        partitions = chance.sample(range(WIDE), chance.randint(1, WIDE))
        records = {index: _records(f"wide {number}", index, chance) for index in partitions}
        acks = chance.choice([Acks.ALL, Acks.ALL, Acks.ONE])
        answers = wire.produce_each("wide", records, acks)
        _approve(answer.error for answer in answers.values())

    def _write_and_forget(
        self, wire: Wire, connection: RawConnection, chance: Random, number: str
    ) -> None:
        """To a partition whose old records go: by themselves, or as somebody wants it."""
        payload = chance.randbytes(chance.randint(0, PAYLOAD_BYTES_MAX))
        self._passing_bytes += len(payload) + OVERHEAD_BYTES
        while self._passing and self._passing[0][1] <= self._passing_bytes - PASSING_BYTES:
            self.history.may_go("passing-0", self._passing.popleft()[0])
        produced = wire.produce("passing", (f"passing {number}", payload))
        _approve([produced.error])
        self._passing.append((produced.base_offset + 1, self._passing_bytes))
        if chance.random() < 0.02:
            before_offset = chance.choice(self._passing)[0]
            self.history.may_go("passing-0", before_offset)
            code, begins_at = office.delete_records(connection, "passing", before_offset)
            _approve([code])
            self.history.began_at("passing-0", begins_at)

    def _make_topics(
        self, wire: Wire, connection: RawConnection, chance: Random, number: str
    ) -> None:
        """Topics asked for, topics made by their first mention; changed, written to, deleted."""
        name = f"topic-{number}"
        count = chance.randint(1, 3)
        is_doomed = chance.random() < DOOMED_SHARE
        if is_doomed:
            self._create(wire, name, count)
            self._doomed.append(name)
        elif chance.random() < 0.5:
            self._create(wire, name, count)
            self.kept_topics[name] = count
        else:
            self._mention(wire, name)
            self.kept_topics[name] = AUTO_PARTITIONS
        # What stands in a doomed topic is nobody's business.
        writing = Wire(connection) if is_doomed else wire
        _approve([writing.produce(name, *_records(f"first in {name}", 0, chance)).error])
        value = str(chance.randint(10**12, 10**13))
        self.retention.tried(name, value)
        _approve([office.set_config(connection, name, "retention.ms", value)])
        self.retention.settled(name)
        if len(self._doomed) > 3:
            self._delete(wire, self._doomed.pop(chance.randrange(len(self._doomed))))
        self._ends.wait(chance.random() * TOPIC_PAUSE_S)

    def _create(self, wire: Wire, name: str, count: int) -> None:
        with self._changing(name, count, FIRST_RETENTION_MS):
            code, _ = wire.try_to_create(name, count, retention_ms=FIRST_RETENTION_MS)
            _approve([code])

    def _mention(self, wire: Wire, name: str) -> None:
        with self._changing(name, AUTO_PARTITIONS, DEFAULT_RETENTION_MS):
            _approve([ErrorCode(wire.describe(name, is_creating=True).error_code)])

    def _delete(self, wire: Wire, name: str) -> None:
        with self._changing(name, None, None):
            wire.delete_topic(name)

    @contextmanager
    def _changing(self, name: str, count: int | None, retention_ms: str | None) -> Iterator[None]:
        """A topic and its config are as given when the `with` ends well, and perhaps otherwise."""
        self.topics.tried(name, count)
        self.retention.tried(name, retention_ms)
        yield
        self.topics.settled(name)
        self.retention.settled(name)

    def _commit(self, _: Wire, connection: RawConnection, chance: Random, number: str) -> None:
        group = chance.choice(GROUPS)
        offsets = [chance.randint(0, 10**9) for _ in range(WIDE)]
        names = [f"{group} wide-{index}" for index in range(WIDE)]
        for name, offset in zip(names, offsets, strict=True):
            self.offsets.tried(name, offset)
        codes = office.commit(connection, group, "wide", offsets)
        if codes <= office.NOT_YET:
            return
        _approve(codes)
        for name in names:
            self.offsets.settled(name)


def _records(name: str, index: int, chance: Random) -> Sequence[tuple[str, bytes]]:
    size = chance.randint(0, PAYLOAD_BYTES_MAX)
    if chance.random() < LARGE_SHARE:
        size = LARGE_PAYLOAD_BYTES
    return [
        (f"{name} to {index}, {n}", chance.randbytes(size)) for n in range(chance.randint(1, 3))
    ]


def _approve(codes: Iterable[ErrorCode]) -> None:
    refusals = set(codes) - {ErrorCode.NONE}
    assert not refusals, refusals
