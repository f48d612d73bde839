"""Fetch."""

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.conformance.differential.conversation import Conversation, Topic
from tests.conformance.differential.script import script
from tests.conformance.differential.scripts.requests import NOBODY, batch, fetch, fill, produce

FETCH = ApiKey.FETCH


@script(FETCH)
def records_come_back_in_whole_batches(talk: Conversation) -> None:
    topic = talk.topic()
    talk.ask("empty", fetch(topic))
    fill(talk, topic, batches=3, count=4)
    talk.ask("from the start", fetch(topic))
    talk.ask("inside the second batch", fetch(topic, 6))
    talk.ask("at the end", fetch(topic, 12))
    talk.ask("durable transactions only", fetch(topic, 8, isolation_level=1))


@script(FETCH)
def limits_cut_between_batches_or_give_one(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic, batches=3, count=4)
    size_bytes = len(batch(talk.now_ms, 4))
    talk.ask("a byte, by partition", fetch(topic, partition_max_bytes=1))
    talk.ask("a byte in all", fetch(topic, max_bytes=1))
    talk.ask("nothing, by partition", fetch(topic, partition_max_bytes=0))
    talk.ask("two batches", fetch(topic, partition_max_bytes=2 * size_bytes))
    talk.ask("two batches and a half", fetch(topic, partition_max_bytes=size_bytes * 5 // 2))
    talk.ask("not enough in time", fetch(topic, min_bytes=1 << 19, max_wait_ms=50))


@script(FETCH)
def offsets_outside_of_the_log_are_refused(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic)
    talk.ask("beyond the end", fetch(topic, 2))
    talk.ask("negative", fetch(topic, -1))


@script(FETCH)
def places_that_do_not_exist_have_no_records(talk: Conversation) -> None:
    topic = talk.topic()
    talk.ask("unknown topic", fetch(Topic(talk.name("unknown"), NOBODY, 0)))
    talk.ask("unknown partition", fetch(topic, partition=9))
    talk.ask("negative partition", fetch(topic, partition=-1))
    talk.ask("zero id", fetch(Topic("", bytes(16), 0)))


@script(FETCH, first=9)
def epochs_other_than_the_present_are_refused(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic)
    talk.ask("the present", fetch(topic, leader_epoch=topic.leader_epoch))
    talk.ask("a future one", fetch(topic, leader_epoch=topic.leader_epoch + 1))


@script(FETCH)
def several_partitions_are_answered_each(talk: Conversation) -> None:
    topic = talk.topic(partitions=3)
    fill(talk, topic)
    places = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1000)
        for index, offset in ((0, 0), (1, 0), (2, 5), (7, 0))
    ]
    wanted = FetchTopic(topic=topic.name, topic_id=topic.topic_id, partitions=places)
    talk.ask("all", FetchRequest(max_wait_ms=0, min_bytes=1, topics=[wanted]))


@script(FETCH, first=7)
def sessions_answer_what_has_changed(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic)
    opened = talk.ask("opened", fetch(topic, session=(0, 0)))
    number = opened.session_id
    talk.write_down("a number", {"is one": number > 0})
    talk.ask("the same again", fetch(None, session=(number, 1)))
    talk.ask("further on", fetch(topic, 1, session=(number, 2)))
    talk.ask("nothing new", fetch(None, session=(number, 3)))
    talk.look(produce(topic, batch(talk.now_ms)), 9)
    talk.ask("something new", fetch(None, session=(number, 4)))
    talk.ask("a wrong epoch", fetch(None, session=(number, 9)))
    talk.ask("an unknown session", fetch(None, session=(number + 1, 1)))
    talk.ask("closed", fetch(None, session=(number, -1)))
    talk.ask("after it was closed", fetch(None, session=(number, 6)))
    talk.ask("an epoch without a session", fetch(None, session=(0, 5)))


@script(FETCH)
def duplicates_in_a_request(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic)
    place = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    wanted = FetchTopic(topic=topic.name, topic_id=topic.topic_id, partitions=[place, place])
    talk.ask("twice", FetchRequest(max_wait_ms=0, min_bytes=1, topics=[wanted]))


@script(FETCH, first=12)
def epochs_that_were_read_before(talk: Conversation) -> None:
    topic = talk.topic()
    fill(talk, topic, batches=2)

    def ask(step: str, offset: int, epoch: int) -> None:
        request = fetch(topic, offset)
        request.topics[0].partitions[0].last_fetched_epoch = epoch
        talk.ask(step, request)

    ask("the present", 1, topic.leader_epoch)
    ask("the present, at the end", 2, topic.leader_epoch)
    ask("the present, beyond the end", 3, topic.leader_epoch)
    ask("a future one", 1, topic.leader_epoch + 1)
