"""Producers and a consumer of confluent-kafka at work, whatever happens to the broker meanwhile."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

from riverlog.testing.history import Acks, History, Record
from tests.crash_real.judgement import each
from tests.crash_real.waiting import WAIT_S_MAX, wait_until

UNANSWERED_MAX = 150
PAYLOAD_BYTES_MAX = 300
# Now and then a large one, so that there is enough between two checkpoints.
LARGE_PAYLOAD_BYTES = 200_000
LARGE_SHARE = 0.006

# A broker that is back is to be found at once: these tests wait for nothing else.
RECONNECT = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
# Without retries, so that every record is tried once: a second try could rightly stand there twice.
_ONE_TRY = {"message.send.max.retries": 0}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of producer, and what it is promised."""

    name: str
    acks: Acks
    settings: Mapping[str, Any]  # librdkafka's are of many types
    may_fail: bool


KINDS = (
    Kind("idempotent", Acks.ALL, {"enable.idempotence": True, "retry.backoff.ms": 20}, False),
    Kind("plain", Acks.ALL, {"acks": "all", **_ONE_TRY}, True),
    Kind("quick", Acks.ONE, {"acks": 1, **_ONE_TRY}, True),
)


class Load:
    """Works in threads from `start` on; all that is seen goes into `history`, in that order.

    `unexpected` must be empty in the end: it holds failures of producers that never give up, and
    errors of the consumer.
    """

    def __init__(
        self,
        bootstrap: str,
        partitions: Mapping[str, int],
        seed: str,
        kinds: Sequence[Kind] = KINDS,
    ) -> None:
        self.history = History()
        self.acknowledged: Counter[str] = Counter()
        self.consumed: defaultdict[str, list[int]] = defaultdict(list)
        self.unexpected: list[str] = []
        self._bootstrap = bootstrap
        self._partitions = each(partitions)
        self._seed = seed
        self._kinds = kinds
        self._producers_stop = threading.Event()
        self._is_abandoned = threading.Event()
        self._producing = [self._thread(self._produce, kind) for kind in kinds]
        self._consuming = self._thread(self._consume)

    def start(self) -> None:
        for thread in (*self._producing, self._consuming):
            thread.start()

    def wait_for_progress(self, record_count: int = 1) -> None:
        """Returns when every producer has had so many more records acknowledged.

        With anything `unexpected` it returns at once, as the next call would.
        """
        before = Counter(self.acknowledged)

        def has_advanced() -> bool:
            return bool(self.unexpected) or all(
                self.acknowledged[kind.name] >= before[kind.name] + record_count
                for kind in self._kinds
            )

        wait_until(has_advanced, lambda: f"{before} became {self.acknowledged} only")

    def stop_producing(self) -> None:
        """Every record has been answered, one way or the other, when it returns."""
        self._producers_stop.set()
        for thread in self._producing:
            thread.join(WAIT_S_MAX)
            assert not thread.is_alive(), f"{thread.name} does not end"

    def stop(self, end_offsets: Mapping[str, int]) -> None:
        """Ends all threads, when the consumer has seen everything before `end_offsets`.

        With anything `unexpected` it does not wait for that.
        """
        self.stop_producing()

        def has_seen_all() -> bool:
            return bool(self.unexpected) or all(
                self.consumed[name][-1:] == [end - 1] for name, end in end_offsets.items() if end
            )

        wait_until(has_seen_all, lambda: "the consumer stands still")
        self.abandon()

    def abandon(self) -> None:
        """Ends all threads as soon as can be."""
        self._producers_stop.set()
        self._is_abandoned.set()
        for thread in (*self._producing, self._consuming):
            if thread.ident is not None:
                thread.join(WAIT_S_MAX)

    def _produce(self, kind: Kind) -> None:
        chance = Random(f"{self._seed} {kind.name}")
        settings = {"bootstrap.servers": self._bootstrap, "linger.ms": 1, "log_level": 0}
        producer = Producer({**settings, **RECONNECT, **kind.settings})
        number = 0
        while not self._producers_stop.is_set():
            for _ in range(chance.randint(1, 12)):
                number += 1
                self._send(producer, kind, f"{kind.name}/{number}", chance)
            producer.poll(chance.random() * 0.02)
            while len(producer) > UNANSWERED_MAX and not self._producers_stop.is_set():
                producer.poll(0.01)
        while len(producer) and not self._is_abandoned.is_set():
            producer.flush(0.1)
        if unanswered := len(producer):
            producer.purge()
            self.unexpected.append(f"{unanswered} records of {kind.name} have no answer")

    def _send(self, producer: Producer, kind: Kind, record_id: str, chance: Random) -> None:
        topic, index = chance.choice(self._partitions)
        is_large = chance.random() < LARGE_SHARE
        size = LARGE_PAYLOAD_BYTES if is_large else chance.randint(0, PAYLOAD_BYTES_MAX)
        payload = chance.randbytes(size)
        self.history.sent(record_id, f"{topic}-{index}", payload, kind.name)

        def delivered(failure: KafkaError | None, message: Any) -> None:  # its offset may be None
            if failure is None:
                self.history.acknowledged(record_id, message.offset(), kind.acks)
                self.acknowledged[kind.name] += 1
            elif not kind.may_fail:
                self.unexpected.append(f"{record_id} failed: {failure}")

        producer.produce(topic, payload, record_id, index, on_delivery=delivered)

    def _consume(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "unused, as partitions are assigned by hand",
                "enable.auto.commit": False,
                # An offset that is there no more must not go unnoticed.
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 100,
                "log_level": 0,
                **RECONNECT,
            }
        )
        try:
            consumer.assign(
                [
                    TopicPartition(topic, index, OFFSET_BEGINNING)
                    for topic, index in self._partitions
                ]
            )
            while not self._is_abandoned.is_set():
                for message in consumer.consume(500, timeout=0.05):
                    self._take(message)
        finally:
            consumer.close()

    def _take(self, message: Any) -> None:  # its type allows for messages without a topic
        name = f"{message.topic()}-{message.partition()}"
        if message.error() is not None:
            self.unexpected.append(f"the consumer of {name} failed: {message.error()}")
            return
        record = Record(message.offset(), message.key().decode(), message.value() or b"")
        if self.consumed[name] and record.offset <= self.consumed[name][-1]:
            self.unexpected.append(
                f"{name} was consumed at {self.consumed[name][-1]}, then at {record.offset}"
            )
        self.consumed[name].append(record.offset)
        self.history.consumed("consumer", name, record)

    def _thread(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        def guarded() -> None:
            try:
                work(*arguments)
            except Exception as failure:  # noqa: BLE001  # told in `unexpected`, whatever it is
                self.unexpected.append(f"{work.__name__}{arguments} broke: {failure!r}")

        return threading.Thread(target=guarded, name=f"{work.__name__}{arguments}", daemon=True)
