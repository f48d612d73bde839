"""CreateTopics and DeleteTopics."""

from collections.abc import Sequence

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from riverlog.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.conformance.differential.conversation import Conversation
from tests.conformance.differential.script import script

CREATE = ApiKey.CREATE_TOPICS
DELETE = ApiKey.DELETE_TOPICS
NOBODY = bytes(15) + b"\x07"


def wanted(
    name: str,
    partitions: int = 1,
    replicas: int = 1,
    configs: Sequence[tuple[str, str | None]] = (),
    assignments: Sequence[tuple[int, Sequence[int]]] = (),
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(ids))
            for index, ids in assignments
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs],
    )


def create(*topics: CreatableTopic, validate_only: bool = False) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=topics, timeout_ms=10_000, validate_only=validate_only)


@script(CREATE)
def topics_are_made(talk: Conversation) -> None:
    talk.ask("one", create(wanted(talk.name("one"), 3)))
    talk.ask("it exists", create(wanted(talk.name("one"), 3)))
    talk.ask("two", create(wanted(talk.name("two")), wanted(talk.name("three"))))
    talk.ask("none", create())


@script(CREATE, first=4)
def defaults_are_filled_in(talk: Conversation) -> None:
    talk.ask("both", create(wanted(talk.name("both"), -1, -1)))
    talk.ask("partitions", create(wanted(talk.name("partitions"), -1, 1)))


@script(CREATE)
def what_is_only_checked_is_not_made(talk: Conversation) -> None:
    name = talk.name()
    talk.ask("checked", create(wanted(name, 2), validate_only=True))
    talk.ask("checked, wrong", create(wanted(name, 0), validate_only=True))
    talk.ask("made", create(wanted(name, 2)))
    talk.ask("checked, exists", create(wanted(name, 2), validate_only=True))


@script(CREATE)
def names_that_cannot_be_are_refused(talk: Conversation) -> None:
    for name in ("", ".", "..", "with space", "sla/sh", "ünder", "x" * 250, "a\0b"):
        talk.ask(repr(name[:10]), create(wanted(name)))
    talk.ask("just short enough", create(wanted("x" * 249), validate_only=True))


@script(CREATE)
def names_that_collide_as_metrics(talk: Conversation) -> None:
    talk.ask("dots", create(wanted(talk.name("a.b"))))
    talk.ask("underscore", create(wanted(talk.name("a_b"))))


@script(CREATE)
def sizes_that_cannot_be_are_refused(talk: Conversation) -> None:
    for count in (0, -2):
        talk.ask(f"{count} partitions", create(wanted(talk.name(), count)))
    for factor in (0, -2, 3):
        talk.ask(f"{factor} replicas", create(wanted(talk.name(), 1, factor)))


@script(CREATE)
def more_partitions_than_kafka_makes_at_once(talk: Conversation) -> None:
    talk.ask("10,001", create(wanted(talk.name(), 10_001), validate_only=True))
    two = wanted(talk.name("a"), 9_999), wanted(talk.name("b"), 2)
    talk.ask("10,001 in two", create(*two, validate_only=True))
    twice = wanted(talk.name("c"), 5_001)
    talk.ask("10,002 of one name", create(twice, twice, validate_only=True))
    talk.ask("9,000", create(wanted(talk.name("d"), 9_000), validate_only=True))


@script(CREATE)
def a_name_twice_in_one_request(talk: Conversation) -> None:
    twice = wanted(talk.name("twice"))
    talk.ask("twice", create(twice, wanted(talk.name("once")), twice))


@script(CREATE)
def replicas_may_be_assigned(talk: Conversation) -> None:
    def ask(step: str, *assignments: tuple[int, Sequence[int]], count: int = -1) -> None:
        name = talk.name(step.replace(" ", "-"))
        talk.ask(step, create(wanted(name, count, -1, assignments=assignments)))

    ask("two partitions", (0, [1]), (1, [1]))
    ask("with a count", (0, [1]), count=1)
    ask("a gap", (0, [1]), (2, [1]))
    ask("unknown broker", (0, [7]))
    ask("no brokers", (0, []))
    ask("broker twice", (0, [1, 1]))
    ask("partition twice", (0, [1]), (0, [1]))
    ask("negative partition", (-1, [1]))


@script(CREATE)
def settings_are_kept(talk: Conversation) -> None:
    def ask(step: str, *configs: tuple[str, str | None]) -> None:
        talk.ask(step, create(wanted(talk.name(step.replace(" ", "-")), configs=configs)))

    ask("two", ("retention.ms", "1000"), ("cleanup.policy", "compact"))
    ask("unknown name", ("no.such.setting", "1"))
    ask("no number", ("retention.ms", "soon"))
    ask("out of range", ("segment.bytes", "-1"))
    ask("no word of it", ("cleanup.policy", "burn"))
    ask("null", ("retention.ms", None))
    ask("twice", ("retention.ms", "1"), ("retention.ms", "2"))
    ask("of the broker", ("num.io.threads", "8"))


@script(DELETE)
def topics_end(talk: Conversation) -> None:
    one, two = talk.topic("one"), talk.topic("two")

    def delete(*names: str) -> DeleteTopicsRequest:
        states = [DeleteTopicState(name=name) for name in names]
        request = DeleteTopicsRequest(topic_names=names, timeout_ms=10_000)
        if talk.version >= 6:
            request = DeleteTopicsRequest(topics=states, timeout_ms=10_000)
        return request

    talk.ask("one", delete(one.name))
    talk.ask("one again", delete(one.name))
    talk.ask("one of two", delete(two.name, talk.name("unknown")))
    talk.ask("invalid name", delete("no/such name"))
    talk.ask("none", delete())
    talk.ask("made again", create(wanted(one.name)), 7)
    talk.await_topic(one.name, [0])
    talk.ask("a name twice", delete(one.name, one.name))


@script(DELETE, first=6)
def topics_end_by_id(talk: Conversation) -> None:
    topic = talk.topic()

    def delete(step: str, *states: DeleteTopicState) -> None:
        talk.ask(step, DeleteTopicsRequest(topics=states, timeout_ms=10_000))

    delete("unknown id", DeleteTopicState(topic_id=NOBODY))
    delete("neither", DeleteTopicState())
    delete("both", DeleteTopicState(name=topic.name, topic_id=topic.topic_id))
    by_id = DeleteTopicState(topic_id=topic.topic_id)
    delete("name and id apart", by_id, DeleteTopicState(name=topic.name))
    delete("by id", by_id)
