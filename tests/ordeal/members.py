"""Groups at work: members of confluent-kafka and of our own client, whatever becomes of the broker.

`Progress` keeps book of what a group may rely on.
"""

import threading
from collections.abc import Mapping
from itertools import count
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

import riverlog
from riverlog.testing.history import History, Record
from tests.crash_real.load import RECONNECT
from tests.crash_real.waiting import WAIT_S_MAX, wait_until
from tests.ordeal.progress import Progress

PUBLISHED = {"published": 2}
BATCH = 20


class Members:
    """Works in threads from `start` to `stop`. Records go into the history; `unexpected` is bad."""

    def __init__(self, bootstrap: str, history: History, topics: list[str]) -> None:
        self.unexpected: list[str] = []
        self.workers = Progress("workers")
        self.ours = Progress("ours")
        self.published = 0
        self._bootstrap = bootstrap
        self._history = history
        self._topics = topics
        self._ends = threading.Event()
        self._publishing_ends = threading.Event()
        work = [("first", self._work), ("second", self._work), ("publisher", self._publish)]
        self._threads = [
            threading.Thread(target=self._guarded, args=(task, name), name=name, daemon=True)
            for name, task in work
        ]
        self._client = riverlog.connect(bootstrap, client_id="ours")

    def start(self) -> None:
        """The topics are there."""
        for thread in self._threads:
            thread.start()
        self._delivery = self._client.subscribe(
            next(iter(PUBLISHED)), group="ours", start="earliest", on_record=self._take_ours
        )

    def stop_publishing(self) -> None:
        """All that was published is durable when it returns."""
        self._publishing_ends.set()
        self._threads[-1].join(WAIT_S_MAX)

    def catch_up(self, ends: Mapping[str, int], published_ends: Mapping[str, int]) -> None:
        """Returns when both groups have seen everything before these ends."""

        def has_all() -> bool:
            return bool(self.unexpected) or not self._lacking(ends, published_ends)

        wait_until(has_all, lambda: f"unread: {self._lacking(ends, published_ends)}")

    def stop(self) -> None:
        """Nobody works any more when it returns."""
        self._ends.set()
        self._publishing_ends.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(WAIT_S_MAX)
        self._client.close(timeout_ms=1000)

    def complaints(self) -> list[str]:
        return [*self.workers.complaints, *self.ours.complaints, *self.unexpected]

    def _lacking(
        self, ends: Mapping[str, int], published_ends: Mapping[str, int]
    ) -> dict[str, list[int]]:
        return {**self.workers.lacking(ends), **self.ours.lacking(published_ends)}

    def _guarded(self, task: Any, name: str) -> None:  # any of the tasks here
        try:
            task(name)
        except Exception as failure:  # noqa: BLE001  # told in `unexpected`, whatever it is
            self.unexpected.append(f"{name} broke: {failure!r}")

    def _work(self, name: str) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "workers",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 300,
                "fetch.wait.max.ms": 100,
                "log_level": 0,
                **RECONNECT,
            }
        )
        fresh: set[str] = set()
        consumer.subscribe(self._topics, on_assign=lambda _, given: fresh.update(map(_name, given)))
        try:
            while not self._ends.is_set():
                taken: dict[str, TopicPartition] = {}
                for message in consumer.consume(200, timeout=0.1):
                    self._take(name, message, fresh, taken)
                if taken:
                    self._commit(consumer, list(taken.values()))
        finally:
            consumer.close()

    def _take(
        self, name: str, message: Any, fresh: set[str], taken: dict[str, TopicPartition]
    ) -> None:  # its type allows for messages without a topic
        if message.error() is not None:
            self.unexpected.append(f"{name} failed: {message.error()}")
            return
        partition = f"{message.topic()}-{message.partition()}"
        if partition in fresh:
            fresh.discard(partition)
            self.workers.began(partition, message.offset())
        record = Record(message.offset(), message.key().decode(), message.value() or b"")
        self._history.consumed(f"worker {name}", partition, record)
        self.workers.seen[partition].add(record.offset)
        taken[partition] = TopicPartition(message.topic(), message.partition(), record.offset + 1)

    def _commit(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        for place in places:
            self.workers.trying(_name(place), place.offset)
        try:
            answers = consumer.commit(offsets=places, asynchronous=False) or []
        except KafkaException:
            return  # The broker is gone, or the partitions are another member's by now.
        for answer in answers:
            if answer.error is None:
                self.workers.committed(_name(answer), answer.offset)

    def _publish(self, _name: str) -> None:
        ((topic, partitions),) = PUBLISHED.items()
        for number in count():
            if self._publishing_ends.is_set():
                return
            ids = [(f"published {number}.{n}", n % partitions) for n in range(BATCH)]
            for record_id, partition in ids:
                self._history.sent(record_id, f"{topic}-{partition}", record_id.encode(), "ours")
            records = [riverlog.NewRecord(one, one, partition=partition) for one, partition in ids]
            answers = self._client.publish_batch(topic, records).results()
            for (record_id, _), answer in zip(ids, answers, strict=True):
                self._history.acknowledged(record_id, answer.offset)
            self.published += BATCH

    def _take_ours(self, received: riverlog.ReceivedRecord) -> None:
        partition = f"{received.topic}-{received.partition}"
        record = Record(received.offset, received.key_text() or "", received.value or b"")
        self._history.consumed("our member", partition, record)
        self.ours.seen[partition].add(record.offset)


def _name(place: TopicPartition) -> str:
    return f"{place.topic}-{place.partition}"
