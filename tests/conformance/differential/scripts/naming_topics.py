"""Metadata."""

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.conformance.differential.conversation import Conversation
from tests.conformance.differential.script import script

METADATA = ApiKey.METADATA
NOBODY = bytes(15) + b"\x07"


def named(*names: str, create: bool = False, operations: bool = False) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=create,
        include_topic_authorized_operations=operations,
        include_cluster_authorized_operations=operations,
    )


@script(METADATA)
def topics_are_described(talk: Conversation) -> None:
    topic = talk.topic(partitions=3)
    talk.ask("one", named(topic.name))
    talk.ask("twice", named(topic.name, topic.name))


@script(METADATA, first=1)
def no_topics_at_all(talk: Conversation) -> None:
    talk.ask("none", named())


@script(METADATA)
def all_topics_are_listed(talk: Conversation) -> None:
    topic = talk.topic()
    reply = talk.look(MetadataRequest(topics=None if talk.version else []), talk.version)
    talk.write_down("all", {"has the topic": topic.name in {one.name for one in reply.topics}})


@script(METADATA, first=4)
def topics_that_do_not_exist_are_not_made_unasked(talk: Conversation) -> None:
    talk.ask("unknown", named(talk.name("unknown")))
    talk.ask("still unknown", named(talk.name("unknown")))
    talk.ask("invalid", named("no/such name"))
    talk.ask("empty", named(""))
    talk.ask("dots", named(".."))


@script(METADATA)
def topics_are_made_when_asked_for(talk: Conversation) -> None:
    name = talk.name("new")
    talk.ask("new", named(name, create=True))
    talk.await_topic(name, range(4))
    talk.ask("known", named(name))
    talk.ask("invalid", named("no/such name", create=True))


@script(METADATA, first=8)
def operations_are_told_when_asked_for(talk: Conversation) -> None:
    topic = talk.topic()
    talk.ask("one", named(topic.name, operations=True))


@script(METADATA, first=10)
def topics_are_found_by_id(talk: Conversation) -> None:
    topic = talk.topic()

    def ask(step: str, name: str | None, topic_id: bytes) -> None:
        topics = [MetadataRequestTopic(name=name, topic_id=topic_id)]
        talk.ask(step, MetadataRequest(topics=topics, allow_auto_topic_creation=False))

    ask("known", None, topic.topic_id)
    ask("unknown", None, NOBODY)
    ask("neither", None, bytes(16))
    ask("both", topic.name, topic.topic_id)
    twice = [MetadataRequestTopic(name=None, topic_id=topic.topic_id)] * 2
    talk.ask("twice", MetadataRequest(topics=twice, allow_auto_topic_creation=False))
