"""ListOffsets and OffsetForLeaderEpoch."""

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.list_offsets import ListOffsetsRequest
from riverlog.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.conformance.differential.conversation import Conversation, Topic
from tests.conformance.differential.script import script
from tests.conformance.differential.scripts.requests import batch, fill, list_offsets, produce

LIST_OFFSETS = ApiKey.LIST_OFFSETS
FOR_EPOCH = ApiKey.OFFSET_FOR_LEADER_EPOCH
SPECIAL = {
    "latest": -1,
    "earliest": -2,
    "largest time": -3,
    "local": -4,
    "tiered": -5,
    "pending": -6,
}


@script(LIST_OFFSETS)
def special_times_of_an_empty_log(talk: Conversation) -> None:
    topic = talk.topic()
    for step, time_ms in SPECIAL.items():
        talk.ask(step, list_offsets(topic.name, time_ms))
    talk.ask("a time", list_offsets(topic.name, talk.now_ms))


@script(LIST_OFFSETS)
def special_times_of_a_log(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic, batches=2, count=3)
    talk.look(produce(topic, batch(talk.now_ms - 100, 2)), 9)
    for step, time_ms in SPECIAL.items():
        talk.ask(step, list_offsets(topic.name, time_ms))
    talk.ask("durable transactions only", list_offsets(topic.name, -1, isolation_level=1))
    talk.ask("-7", list_offsets(topic.name, -7))


@script(LIST_OFFSETS)
def times_are_found_to_the_record(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic, batches=2, count=3)
    for after_ms in (-1000, 0, 1, 2, 3, 5, 6, 1000):
        talk.ask(f"{after_ms} ms", list_offsets(topic.name, talk.now_ms + after_ms))
    talk.ask("zero", list_offsets(topic.name, 0))


@script(LIST_OFFSETS)
def places_that_do_not_exist_have_no_offsets(talk: Conversation) -> None:
    topic = talk.topic()
    talk.ask("unknown topic", list_offsets(talk.name("unknown"), -1))
    talk.ask("unknown partition", list_offsets(topic.name, -1, partition=9))
    talk.ask("invalid name", list_offsets("no/such name", -1))
    talk.ask("twice", list_offsets(topic.name, -1, -2))
    talk.ask("no topics", ListOffsetsRequest(replica_id=-1, topics=[]))


@script(LIST_OFFSETS, first=4)
def epochs_other_than_the_present_have_no_offsets(talk: Conversation) -> None:
    topic = talk.topic()
    talk.ask("the present", list_offsets(topic.name, -1, leader_epoch=topic.leader_epoch))
    talk.ask("a future one", list_offsets(topic.name, -1, leader_epoch=topic.leader_epoch + 1))


@script(FOR_EPOCH)
def epochs_end_where_the_next_begins(talk: Conversation) -> None:
    topic = talk.topic()

    def ask(step: str, place: Topic, epoch: int, current: int = -1, partition: int = 0) -> None:
        asked = OffsetForLeaderPartition(
            partition=partition, current_leader_epoch=current, leader_epoch=epoch
        )
        topics = [OffsetForLeaderTopic(topic=place.name, partitions=[asked])]
        talk.ask(step, OffsetForLeaderEpochRequest(replica_id=-1, topics=topics))

    epoch = topic.leader_epoch
    ask("of an empty log", topic, epoch)
    fill(talk, topic, batches=2, count=3)
    ask("the present", topic, epoch)
    ask("the present, said so", topic, epoch, current=epoch)
    ask("yet to come", topic, epoch + 1)
    ask("none", topic, -1)
    ask("for a future leader", topic, epoch, current=epoch + 1)
    ask("unknown partition", topic, epoch, partition=9)
    ask("unknown topic", Topic(talk.name("unknown"), bytes(16), 0), epoch)
