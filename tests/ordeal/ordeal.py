"""One broker with many clients, and what it still has after each of its deaths."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random

from riverlog.testing.history import History, check
from riverlog.testing.history_events import Sent
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import RawConnection, connected
from tests.crash_real.judgement import COMPLAINTS_MAX, each
from tests.crash_real.load import KINDS, Kind, Load
from tests.crash_real.wire import Wire, records_of
from tests.ordeal import office
from tests.ordeal.errands import ABIDING, DEFAULT_RETENTION_MS, GROUPS, Errands

LOADED = {"orders": 2, "rolling": 2}
ROLLING_BYTES = "12000"
SETTINGS = (
    *("--log-retention-check-interval-ms", "200ms", "--checkpoint-bytes", "64KiB"),
    *("--log-retention-ms", DEFAULT_RETENTION_MS),
)
# Those who wait for a sync. What others were told is written by errands, who know when they end.
PATIENT = [kind for kind in KINDS if kind.name != "quick"]
LIFE_S_MAX = 0.5


class Ordeal:
    """Clients at work on a broker; all they saw is in `history`, and in the books of `errands`.

    `others` are topics, with their partitions, that somebody else writes to.
    """

    def __init__(self, broker: BrokerProcess, chance: Random, kinds: Sequence[Kind]) -> None:
        self.broker = broker
        self.chance = chance
        self.load = Load(broker.bootstrap, LOADED, str(chance.random()), kinds)
        self.history = self.load.history
        self.errands = Errands(broker, self.history, chance)
        self.others: dict[str, int] = {}

    def live(self) -> None:
        """Lets everyone work for a while."""
        self.load.wait_for_progress(5)
        time.sleep(self.chance.random() * LIFE_S_MAX)

    def work_on(self) -> None:
        """Everyone goes on in the broker's new life."""
        self.errands.begin()

    def end(self) -> None:
        """Nobody sends any more, and everything was answered, when it returns."""
        self.errands.end()
        self.load.stop_producing()

    def complaints(self) -> list[str]:
        """Reads all that the broker has and says what of it cannot be.

        The load may go on; errands may not, as what they set must not change meanwhile.
        """
        known = list(self.history.events)
        seen = History()
        with connected(self.broker) as connection:
            topics = office.topics(connection)
            self._find({name: len(topic.partitions) for name, topic in topics.items()}, connection)
            wire = Wire(connection, seen)
            for topic, index in each({**self._fixed(), **self.errands.kept_topics}):
                if topic in topics and index < len(topics[topic].partitions):
                    self._read_back(wire, connection, topic, index)
                else:
                    seen.read_back(f"{topic}-{index}", [])
        # What was sent meanwhile may stand in the log, too; what was answered meanwhile is
        # for the next time.
        sent = [one for one in self.history.events[len(known) :] if isinstance(one, Sent)]
        anomalies = check(History([*known, *sent, *seen.events]))
        found = [anomaly.describe() for anomaly in anomalies]
        return [*found, *self.errands.complaints()][:COMPLAINTS_MAX]

    def unexpected(self) -> list[str]:
        """What clients complained of, besides."""
        return [*self.load.unexpected, *self.errands.unexpected]

    def _fixed(self) -> dict[str, int]:
        return {**LOADED, **ABIDING, **self.others}

    def _find(self, topics: dict[str, int], connection: RawConnection) -> None:
        """Looks at all that is no record."""
        made = {name: count for name, count in topics.items() if name not in self._fixed()}
        self.errands.topics.found(made)
        self.errands.retention.found(office.configs(connection, made, "retention.ms"))
        self.errands.offsets.found(
            {
                f"{group} {topic}-{index}": offset
                for group in GROUPS
                for (topic, index), offset in office.committed(connection, group).items()
            }
        )

    def _read_back(self, wire: Wire, connection: RawConnection, topic: str, index: int) -> None:
        name = f"{topic}-{index}"
        while True:
            start = office.start_offset(connection, topic, index)
            try:
                batches = wire.read(topic, index, start)
                break
            except AssertionError:
                # Old records may go just then, and only then is it right to be refused.
                if office.start_offset(connection, topic, index) == start:
                    raise
        for history in (self.history, wire.history):
            history.began_at(name, start)
        wire.history.read_back(name, records_of(batches), start)


@contextmanager
def undergoing(
    broker: BrokerProcess, chance: Random, kinds: Sequence[Kind] = PATIENT
) -> Iterator[Ordeal]:
    """Starts the broker and its clients; they have ended at the end of the `with`."""
    broker.start()
    ordeal = Ordeal(broker, chance, kinds)
    with connected(broker) as connection:
        wire = Wire(connection)
        wire.create_topic("orders", LOADED["orders"])
        wire.create_topic("rolling", LOADED["rolling"], segment_bytes=ROLLING_BYTES)
        ordeal.errands.prepare(wire)
    try:
        ordeal.load.start()
        ordeal.work_on()
        yield ordeal
    finally:
        broker.kill()
        ordeal.errands.end()
        ordeal.load.abandon()
