"""Produce and InitProducerId."""

import struct
import time

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.init_producer_id import InitProducerIdRequest
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from riverlog.records.batch import HEADER_SIZE, BatchHeader, read_header, write_header
from riverlog.records.compression import Codec
from tests.conformance.differential.conversation import POLL_S, Conversation, Topic
from tests.conformance.differential.script import script
from tests.conformance.differential.scripts.requests import (
    TIMEOUT_MS,
    batch,
    fetch,
    list_offsets,
    produce,
)

PRODUCE = ApiKey.PRODUCE
LATEST = -1


def new_producer(
    transactional_id: str | None = None,
    *,
    timeout_ms: int = 60_000,
    producer_id: int = -1,
    epoch: int = -1,
) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=producer_id,
        producer_epoch=epoch,
    )


def producer_of(talk: Conversation) -> int:
    """A producer id, once the broker has some to give: Kafka has none when it has just begun."""
    while True:
        reply = talk.look(new_producer(), 4)
        if reply.error_code == 0:
            producer_id: int = reply.producer_id
            return producer_id
        time.sleep(POLL_S)


@script(PRODUCE)
def records_are_taken_at_every_acks(talk: Conversation) -> None:
    topic = talk.topic()
    for acks in (-1, 1):
        talk.ask(f"acks={acks}", produce(topic, batch(talk.now_ms, 3), acks=acks))
    talk.send(produce(topic, batch(talk.now_ms), acks=0), talk.version)
    talk.ask("after acks=0", produce(topic, batch(talk.now_ms)))
    talk.ask("what was written", fetch(topic), 12)


@script(PRODUCE, first=9)
def every_codec_is_kept_as_it_came(talk: Conversation) -> None:
    topic = talk.topic()
    for codec in Codec:
        talk.ask(codec.name, produce(topic, batch(talk.now_ms, 5, codec=codec)))
    talk.ask("what was written", fetch(topic), 12)


@script(PRODUCE, last=8)
def codecs_are_known_from_a_version_on(talk: Conversation) -> None:
    topic = talk.topic()
    for codec in Codec:
        talk.ask(codec.name, produce(topic, batch(talk.now_ms, codec=codec)))


@script(PRODUCE)
def two_topics_and_four_partitions_at_once(talk: Conversation) -> None:
    topics = [talk.topic("a", partitions=2), talk.topic("b", partitions=2)]
    data = [PartitionProduceData(index=i, records=batch(talk.now_ms)) for i in range(2)]
    named = [
        TopicProduceData(name=topic.name, topic_id=topic.topic_id, partition_data=data)
        for topic in topics
    ]
    talk.ask("all", ProduceRequest(acks=-1, timeout_ms=TIMEOUT_MS, topic_data=named))


@script(PRODUCE)
def places_that_do_not_exist_take_no_records(talk: Conversation) -> None:
    topic = talk.topic()
    some = batch(talk.now_ms)
    talk.ask("unknown topic", produce(talk.name("unknown"), some))
    talk.ask("unknown partition", produce(topic, some, partition=9))
    talk.ask("negative partition", produce(topic, some, partition=-1))
    talk.ask("invalid name", produce("no/such name", some))
    talk.ask("no name", produce("", some))
    talk.ask("neither name nor id", produce(Topic("", bytes(16), 0), some))


@script(PRODUCE)
def acks_that_nobody_defined_are_refused(talk: Conversation) -> None:
    topic = talk.topic()
    for acks in (2, -2):
        talk.ask(f"acks={acks}", produce(topic, batch(talk.now_ms), acks=acks))


@script(PRODUCE)
def batches_that_are_broken_are_refused(talk: Conversation) -> None:
    topic = talk.topic()
    good = batch(talk.now_ms, 2)
    talk.ask("a flipped bit", produce(topic, good[:-1] + bytes([good[-1] ^ 1])))
    talk.ask("cut", produce(topic, good[:-3]))
    talk.ask("cut in its header", produce(topic, good[:30]))
    talk.ask("magic 1", produce(topic, good[:16] + b"\x01" + good[17:]))
    talk.ask("magic 7", produce(topic, good[:16] + b"\x07" + good[17:]))
    talk.ask("length of nothing", produce(topic, good[:8] + bytes(4) + good[12:]))
    talk.ask("no bytes", produce(topic, b""))
    talk.ask("two batches", produce(topic, good + good))
    talk.ask("nothing was written", list_offsets(topic.name, LATEST), 6)


@script(PRODUCE)
def batches_of_brokers_are_not_taken_from_clients(talk: Conversation) -> None:
    topic = talk.topic()
    control = batch(talk.now_ms, producer=(1, 0, -1), is_control=True)
    talk.ask("a control batch", produce(topic, control))
    transactional = batch(talk.now_ms, producer=(1, 0, 0), is_transactional=True)
    talk.ask("of a transaction, said by the batch alone", produce(topic, transactional))
    some = produce(topic, batch(talk.now_ms), transactional_id=talk.name("transaction"))
    talk.ask("of a transaction, said by the request alone", some)


@script(PRODUCE)
def batches_above_the_largest_size_are_refused(talk: Conversation) -> None:
    topic = talk.topic(configs={"max.message.bytes": "1000"})
    talk.ask("above", produce(topic, batch(talk.now_ms, value=b"x" * 1000)))
    talk.ask("below", produce(topic, batch(talk.now_ms, value=b"x" * 800)))


@script(PRODUCE)
def batches_above_the_size_of_a_segment_are_refused(talk: Conversation) -> None:
    sizes = {"segment.bytes": "1048576", "max.message.bytes": "2000000"}
    topic = talk.topic(configs=sizes)
    talk.ask("above", produce(topic, batch(talk.now_ms, value=b"x" * 1_100_000)))


@script(PRODUCE)
def batches_whose_contents_lie(talk: Conversation) -> None:
    topic = talk.topic()
    good = batch(talk.now_ms, 2)

    def ask(step: str, header: BatchHeader, body: bytes) -> None:
        made = bytearray(HEADER_SIZE) + body
        write_header(made, header)
        talk.ask(step, produce(topic, bytes(made)))

    header, body = read_header(good), good[HEADER_SIZE:]
    ask("as it was", header, body)
    ask("no records at all", header, b"no records at all")
    ask("bytes after the last record", header, body + b"more")
    ask("not what was compressed", header._replace(attributes=Codec.GZIP), body)
    ask("a record less", header._replace(record_count=1), body)
    ask("a record more", header._replace(record_count=3, last_offset_delta=2), body)
    ask("an offset more", header._replace(last_offset_delta=2), body)
    ask("no records counted", header._replace(record_count=0), body)
    ask("an unknown codec", header._replace(attributes=7), body)
    ask("another base offset", header._replace(base_offset=99), body)
    ask("the time of another broker", header._replace(attributes=0x08), body)
    talk.ask("how many were taken", list_offsets(topic.name, LATEST), 6)


@script(PRODUCE)
def what_nobody_waits_for_fails_aloud(talk: Conversation) -> None:
    topic = talk.topic()
    talk.send(produce(talk.name("unknown"), batch(talk.now_ms), acks=0), talk.version)
    is_closed = talk.look(list_offsets(topic.name, LATEST), 6) is None
    talk.write_down("unknown topic", {"closes": is_closed})
    talk.send(produce(topic, batch(talk.now_ms)[:-1] + b"?", acks=0), talk.version)
    is_closed = talk.look(list_offsets(topic.name, LATEST), 6) is None
    talk.write_down("a broken batch", {"closes": is_closed})


@script(PRODUCE)
def a_topic_may_tell_the_time_itself(talk: Conversation) -> None:
    topic = talk.topic(configs={"message.timestamp.type": "LogAppendTime"})
    talk.ask("written", produce(topic, batch(talk.now_ms - 5_000)))


@script(PRODUCE, first=8)
def times_far_from_now_are_refused_where_asked(talk: Conversation) -> None:
    bounds = {"message.timestamp.before.max.ms": "60000", "message.timestamp.after.max.ms": "60000"}
    topic = talk.topic(configs=bounds)
    talk.ask("an hour ago", produce(topic, batch(talk.now_ms - 3_600_000, 2)))
    talk.ask("in an hour", produce(topic, batch(talk.now_ms + 3_600_000, 2)))
    talk.ask("now", produce(topic, batch(talk.now_ms, 2)))
    talk.ask("one of two", produce(topic, batch(talk.now_ms - 60_000, 2, step_ms=60_000)))
    talk.ask("no time", produce(topic, batch(-1)))


@script(PRODUCE, first=8)
def compacted_topics_want_keys(talk: Conversation) -> None:
    topic = talk.topic(configs={"cleanup.policy": "compact"})
    talk.ask("without", produce(topic, batch(talk.now_ms, 2, key=None)))
    talk.ask("with", produce(topic, batch(talk.now_ms, 2)))
    lie = bytearray(batch(talk.now_ms, 2, key=None))
    lie[HEADER_SIZE:] = b"no records at all"
    write_header(lie, read_header(lie))
    talk.ask("no records at all", produce(topic, bytes(lie)))


@script(PRODUCE)
def repeated_batches_are_told_apart_from_new_ones(talk: Conversation) -> None:
    topic = talk.topic()
    producer_id = producer_of(talk)

    def send(step: str, sequence: int, count: int = 2, epoch: int = 0) -> None:
        records = batch(talk.now_ms, count, producer=(producer_id, epoch, sequence))
        talk.ask(step, produce(topic, records))

    send("first", 0)
    send("first again", 0)
    for sequence in range(2, 14, 2):
        send(f"sequence {sequence}", sequence)
    send("last but four again", 4)
    send("older than the last five", 0)
    send("a gap", 99)
    send("overlapping the last", 13)
    send("a newer epoch, not from 0", 7, epoch=1)
    send("a newer epoch", 0, epoch=1)
    send("the old epoch", 14, epoch=0)
    talk.ask("what was written", fetch(topic), 12)


@script(PRODUCE)
def an_unknown_producer_may_begin_anywhere(talk: Conversation) -> None:
    topic = talk.topic()
    producer_id = producer_of(talk)
    talk.ask("at 5", produce(topic, batch(talk.now_ms, producer=(producer_id, 0, 5))))
    talk.ask("no sequence", produce(topic, batch(talk.now_ms, producer=(producer_id, 0, -1))))
    talk.ask("no epoch", produce(topic, batch(talk.now_ms, producer=(producer_id, -1, 0))))
    last = 2**31 - 1
    talk.ask("last", produce(topic, batch(talk.now_ms, 2, producer=(producer_id, 1, last))))


@script(ApiKey.INIT_PRODUCER_ID)
def idempotent_producers_get_an_id(talk: Conversation) -> None:
    producer_of(talk)
    first = talk.ask("new", new_producer())
    second = talk.look(new_producer(), talk.version)
    talk.write_down("ids differ", {"differ": first.producer_id != second.producer_id})
    talk.ask("no timeout", new_producer(timeout_ms=0))


@script(ApiKey.INIT_PRODUCER_ID, first=3)
def producers_may_name_the_id_they_had(talk: Conversation) -> None:
    had = producer_of(talk)

    def ask(step: str, producer_id: int, epoch: int) -> None:
        talk.ask(step, new_producer(producer_id=producer_id, epoch=epoch))

    ask("id and epoch", had, 0)
    ask("id without epoch", had, -1)
    ask("epoch without id", -1, 3)


@script(ApiKey.INIT_PRODUCER_ID)
def an_empty_transactional_id_is_refused(talk: Conversation) -> None:
    talk.ask("empty", new_producer(""))


@script(PRODUCE, first=12)
def versions_that_are_not_served_close_the_connection(talk: Conversation) -> None:
    for version in (0, 2, 99):
        talk.send_frame(struct.pack(">hhih", PRODUCE, version, 7, -1) + bytes(20))
        talk.write_down(f"v{version}", {"is closed": talk.receive_frame() is None})
