"""Topics: names that are allowed, what is decided, and what applying a fact does."""

import pytest

from riverlog.cluster.topics import (
    PARTITIONS_MAX,
    InvalidPartitionCount,
    InvalidTopicName,
    NoSuchTopic,
    PartitionsAdded,
    TopicConfigured,
    TopicCreated,
    TopicDeleted,
    TopicExists,
    Topics,
    check_name,
)


def topic_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def created(name: str, number: int = 1) -> TopicCreated:
    return TopicCreated(topic_id(number), name, 1, {})


def with_topics(*names: str) -> Topics:
    topics = Topics()
    for number, name in enumerate(names, 1):
        topics.apply(created(name, number))
    return topics


@pytest.mark.parametrize("name", ["a", "A-b.c_9", "...", "__offsets", "x" * 249])
def test_these_names_are_allowed(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a b", "a\n", "x" * 250, "größe", "a\0", "*", "a,b", "a:b"],
)
def test_these_names_are_not(name: str) -> None:
    with pytest.raises(InvalidTopicName):
        check_name(name)


def test_deciding_changes_nothing() -> None:
    topics = Topics()
    topics.decide_create("a", topic_id(1), 1, {})
    assert len(topics) == 0
    topics.decide_create("a", topic_id(2), 1, {})


def test_a_name_is_taken_once() -> None:
    with pytest.raises(TopicExists):
        with_topics("a").decide_create("a", topic_id(2), 1, {})


def test_names_that_tools_mix_up_are_refused() -> None:
    with pytest.raises(InvalidTopicName):
        with_topics("a.b").decide_create("a_b", topic_id(2), 1, {})


@pytest.mark.parametrize("count", [0, -1, PARTITIONS_MAX + 1])
def test_a_topic_has_at_least_one_partition_and_not_too_many(count: int) -> None:
    with pytest.raises(InvalidPartitionCount):
        Topics().decide_create("a", topic_id(1), count, {})


def test_a_topic_is_found_by_name_and_by_id() -> None:
    topics = with_topics("a", "b")
    assert topics.by_name("b") == created("b", 2)
    assert topics.by_id(topic_id(1)) == created("a", 1)
    assert topics.by_name("c") is None
    assert topics.by_id(topic_id(9)) is None
    assert [topic.name for topic in topics] == ["a", "b"]


def test_a_deleted_topic_is_gone_and_its_name_is_free() -> None:
    topics = with_topics("a.b")
    topics.apply(TopicDeleted(topic_id(1)))
    assert topics.by_name("a.b") is None
    assert topics.by_id(topic_id(1)) is None
    assert topics.was_deleted(topic_id(1))
    topics.decide_create("a_b", topic_id(2), 1, {})


def test_a_topic_made_again_under_its_name_is_another_one() -> None:
    topics = with_topics("a")
    topics.apply(TopicDeleted(topic_id(1)))
    topics.apply(created("a", 2))
    assert topics.by_name("a") == created("a", 2)
    assert topics.by_id(topic_id(1)) is None


def test_the_end_of_a_topic_that_is_not_known_is_remembered() -> None:
    topics = Topics()
    topics.apply(TopicDeleted(topic_id(1)))
    assert topics.was_deleted(topic_id(1))


def test_a_topic_whose_end_was_forgotten_takes_no_name_from_its_successor() -> None:
    topics = with_topics("a")
    topics.apply(created("a", 2))
    topics.apply(TopicDeleted(topic_id(1)))
    assert topics.by_name("a") == created("a", 2)
    topics.apply(TopicDeleted(topic_id(2)))
    assert topics.by_name("a") is None


def test_the_configs_of_a_decided_topic_are_its_own() -> None:
    configs = {"retention.ms": "1"}
    topic = Topics().decide_create("a", topic_id(1), 1, configs)
    configs.clear()
    assert topic.configs == {"retention.ms": "1"}


def test_settings_are_replaced_by_what_an_edit_makes_of_them() -> None:
    topics = with_topics("a")
    topics.apply(TopicConfigured(topic_id(1), {"x": "1"}))
    fact = topics.decide_configure("a", lambda had: {**had, "y": "2"})
    assert fact == TopicConfigured(topic_id(1), {"x": "1", "y": "2"})
    assert topics.by_name("a") == created("a")._replace(configs={"x": "1"})
    topics.apply(fact)
    assert topics.by_name("a") == topics.by_id(topic_id(1))
    assert topics.by_name("a") == created("a")._replace(configs={"x": "1", "y": "2"})


def test_partitions_are_only_ever_added() -> None:
    topics = with_topics("a")
    fact = topics.decide_add_partitions("a", 3)
    topics.apply(fact)
    assert fact == PartitionsAdded(topic_id(1), 3)
    assert (
        topics.by_name("a") == topics.by_id(topic_id(1)) == created("a")._replace(partition_count=3)
    )
    for count in (3, 2, 0, PARTITIONS_MAX + 1):
        with pytest.raises(InvalidPartitionCount):
            topics.decide_add_partitions("a", count)


def test_what_is_not_there_cannot_be_changed() -> None:
    topics = with_topics("a")
    topics.apply(TopicDeleted(topic_id(1)))
    with pytest.raises(NoSuchTopic):
        topics.decide_configure("a", dict)
    with pytest.raises(NoSuchTopic):
        topics.decide_add_partitions("a", 2)


def test_changes_of_a_topic_whose_beginning_was_lost_are_passed_over() -> None:
    topics = with_topics("a")
    topics.apply(TopicConfigured(topic_id(9), {"x": "1"}))
    topics.apply(PartitionsAdded(topic_id(9), 3))
    assert list(topics) == [created("a")]


def test_changes_of_a_topic_whose_name_was_taken_over_leave_its_successor() -> None:
    topics = with_topics("a")
    topics.apply(created("a", 2))
    topics.apply(PartitionsAdded(topic_id(1), 3))
    assert topics.by_name("a") == created("a", 2)
    assert topics.by_id(topic_id(1)) == created("a")._replace(partition_count=3)
