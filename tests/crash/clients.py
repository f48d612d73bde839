"""The clients of a broker under test. They believe only what they are told, and keep book of it."""

import asyncio

from riverlog.broker.broker import Broker
from riverlog.cluster.topics import TopicCreated
from riverlog.log.errors import LogClosed, OffsetOutOfRange, StorageFailed
from riverlog.log.partition import Appended, Partition
from riverlog.log.producers import OutOfOrderSequence
from riverlog.records.batch import read_header
from riverlog.records.builder import build_batch
from riverlog.records.record import Record, iterate
from riverlog.testing import history
from riverlog.testing.gathered import Gathered
from riverlog.testing.history import Acks
from tests.crash.story import TOPIC, Batch, Producer, Story

READ_BYTES = 700
DAY_MS = 86_400_000


class Producing:
    """One producer at work in one life of a broker."""

    def __init__(
        self, broker: Broker, topic: TopicCreated, story: Story, producer: Producer
    ) -> None:
        self._broker = broker
        self._topic = topic
        self._story = story
        self._producer = producer
        self._partition = f"{TOPIC}-{producer.partition}"
        if not producer.is_idempotent:
            producer.unanswered.clear()
        for batch in producer.unanswered:
            batch.is_in_flight = False

    async def run(self, turns: int) -> None:
        producer, chance = self._producer, self._story.chance
        for _ in range(turns):
            await asyncio.sleep(chance.below(400) / 1_000_000)
            if producer.has_given_up:
                return
            try:
                log = self._broker.partition(self._topic, producer.partition)
            except OSError:
                self._story.refusals[self._partition] += 1
                continue
            due = [
                batch
                for batch in producer.unanswered
                # Now and then an impatient client repeats what is still under way.
                if not batch.is_in_flight or (producer.is_idempotent and chance.happens(0.1))
            ]
            while len(producer.unanswered) < producer.unanswered_max:
                due.append(producer.new_batch(chance))
                producer.unanswered.append(due[-1])
                if chance.happens(0.6):
                    break
            if chance.happens(0.5) or not self._send_together(log, due):
                for batch in due:
                    self._send(log, batch)

    def _send_together(self, log: Partition, batches: list[Batch]) -> bool:
        """Has the broker take all of them in one piece; False if it wants to see each."""
        if not batches:
            return True
        for batch in batches:
            self._note_sent(batch)
        base_offset = log.next_offset
        end_offset = self._broker.append_all(log, Gathered(list(map(self._encode, batches))))
        if end_offset is None:
            return False
        for batch in batches:
            batch_end = base_offset + len(batch.records)
            self._await(log, batch, Appended(base_offset, batch_end, -1, is_duplicate=False))
            base_offset = batch_end
        assert base_offset == end_offset
        return True

    def _note_sent(self, batch: Batch) -> None:
        for record_id, payload in batch.records:
            self._story.history.sent(record_id, self._partition, payload, self._producer.name)
        batch.is_in_flight = True

    def _send(self, log: Partition, batch: Batch) -> None:
        producer, story = self._producer, self._story
        self._note_sent(batch)
        try:
            appended = self._broker.append(log, self._encode(batch))
        except (StorageFailed, LogClosed):
            self._failed(batch)
            return
        except OutOfOrderSequence as error:
            # The first may have been answered in vain and be deleted since. What follows one that
            # was refused is refused, too: told this, librdkafka sends everything anew, and twice.
            if not producer.has_given_up and batch is not producer.unanswered[0]:
                story.errors.append(error)
            producer.has_given_up = True
            return
        self._await(log, batch, appended)

    def _await(self, log: Partition, batch: Batch, appended: Appended) -> None:
        durable = None
        if self._producer.acks is Acks.ALL:
            durable = log.durable(appended.end_offset)
        if durable is None:
            self._answered(batch, appended)
        else:
            durable.add_done_callback(lambda done: self._settled(batch, appended, done))

    def _settled(self, batch: Batch, appended: Appended, done: asyncio.Future[None]) -> None:
        if done.cancelled() or done.exception() is not None:
            self._failed(batch)
        else:
            self._answered(batch, appended)

    def _answered(self, batch: Batch, appended: Appended) -> None:
        for number, (record_id, _) in enumerate(batch.records):
            offset = appended.base_offset + number
            self._story.history.acknowledged(record_id, offset, self._producer.acks)
        self._producer.answered_count += 1
        self._forget(batch)

    def _failed(self, batch: Batch) -> None:
        self._story.refusals[self._partition] += 1
        batch.is_in_flight = False
        if not self._producer.is_idempotent:
            self._forget(batch)

    def _forget(self, batch: Batch) -> None:
        unanswered = self._producer.unanswered
        unanswered[:] = [other for other in unanswered if other is not batch]

    def _encode(self, batch: Batch) -> bytes:
        now_ms = self._broker.clock.now_ms()
        is_idempotent = self._producer.is_idempotent
        return build_batch(
            [
                Record(number, now_ms, record_id.encode(), payload)
                for number, (record_id, payload) in enumerate(batch.records)
            ],
            producer_id=self._producer.producer_id,
            producer_epoch=0 if is_idempotent else -1,
            base_sequence=batch.base_sequence if is_idempotent else -1,
        )


class Consuming:
    """A consumer of one partition that begins anywhere and reads on from there."""

    def __init__(self, broker: Broker, topic: TopicCreated, index: int, story: Story) -> None:
        self._broker = broker
        self._topic = topic
        self._index = index
        self._story = story

    async def run(self, turns: int) -> None:
        chance, history = self._story.chance, self._story.history
        offset = -1
        for _ in range(turns):
            await asyncio.sleep(chance.below(600) / 1_000_000)
            try:
                log = self._broker.partition(self._topic, self._index)
                if offset < 0:
                    offset = chance.between(log.log_start_offset, log.high_watermark)
                records, next_offset = read_on(log, offset)
            except OSError:
                self._story.failed_reads += 1
                continue
            except OffsetOutOfRange:
                offset = -1
                continue
            for record in records:
                if record.offset >= offset:
                    history.consumed("consumer", f"{TOPIC}-{self._index}", record)
            offset = next_offset


def read_on(log: Partition, offset: int) -> tuple[list[history.Record], int]:
    """What one fetch gives, record by record, and where to go on."""
    records = []
    data = log.read(offset, READ_BYTES)
    position = 0
    while position < len(data):
        header = read_header(data, position)
        for record in iterate(data, position, decompressed_bytes_max=1 << 20):
            assert record.key is not None
            assert record.value is not None
            records.append(history.Record(record.offset, record.key.decode(), record.value))
        position += header.size_bytes
        offset = header.next_offset
    return records, offset


def read_all(log: Partition) -> list[history.Record]:
    """Everything from the start of the log on, fetch by fetch."""
    records: list[history.Record] = []
    offset, next_offset = -1, log.log_start_offset
    while next_offset > offset:
        offset = next_offset
        found, next_offset = read_on(log, offset)
        records += [record for record in found if record.offset >= offset]
    assert offset <= log.high_watermark, "more was read than is durable"
    assert offset == log.high_watermark or log.next_offset > log.high_watermark
    return records


async def tidy(broker: Broker, topic: TopicCreated, story: Story) -> None:
    """Deletes records now and then, and lets passes come when everything has had its time."""
    chance = story.chance.fork(f"tidy {len(story.epochs)}")
    history, housekeeping = story.history, broker.housekeeping
    index = chance.below(topic.partition_count)
    name = f"{TOPIC}-{index}"
    for _ in range(chance.between(1, 6) if chance.happens(0.6) else 0):
        await asyncio.sleep(chance.below(800) / 1_000_000)
        try:
            log = broker.partition(topic, index)
            if chance.happens(0.3):
                offset = chance.between(log.log_start_offset, log.high_watermark)
                history.may_go(name, offset)
                deleted = log.delete_before(offset)
                if deleted is not None:
                    await deleted
            else:
                history.may_go(name, end_of_first(log))
                later_ms = broker.clock.now_ms() + 8 * DAY_MS
                await housekeeping.tidy_one(topic, index, log, later_ms)
                await housekeeping.remove_files()
        except OSError:
            continue
        history.began_at(name, log.log_start_offset)


def end_of_first(log: Partition) -> int:
    """Where the oldest segment with records ends: by time only that one may go."""
    segments = log._segments
    held = [number for number, one in enumerate(segments) if one.next_offset > log.log_start_offset]
    if not held or held[0] + 1 == len(segments):
        return log.next_offset
    return segments[held[0] + 1].base_offset


async def administer(broker: Broker, story: Story) -> None:
    """Makes topics, ends some of them, and takes a producer id."""
    for _ in range(2):
        await asyncio.sleep(story.chance.below(1_000) / 1_000_000)
        name = f"topic-{len(story.topics)}"
        try:
            story.topics[name] = None
            topic = await broker.create_topic(name, 1, {})
            story.topics[name] = True
            if story.chance.happens(0.3):
                story.topics[name] = None
                await broker.delete_topic(topic.topic_id)
                story.topics[name] = False
            if story.chance.happens(0.5):
                story.producer_ids.append(await broker.new_producer_id())
        except (StorageFailed, LogClosed, OSError):
            continue
