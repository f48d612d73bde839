"""Topics as a whole, through the client."""

import pytest

from riverlog.client.errors import InvalidArgument, TopicExists, UnknownTopic
from riverlog.client.sync_client import Client


def test_a_topic_is_made_described_and_deleted(client: Client, topic: str) -> None:
    view = client.topics.describe(topic)
    assert [(each.partition, each.leader) for each in view.partitions] == [(0, 1), (1, 1), (2, 1)]
    assert topic in [each.name for each in client.topics.list()]

    client.topics.delete(topic)

    assert topic not in [each.name for each in client.topics.list()]
    with pytest.raises(UnknownTopic):
        client.topics.describe(topic)
    with pytest.raises(UnknownTopic):
        client.topics.delete(topic)


def test_a_topic_that_exists_is_not_made_again(client: Client, topic: str) -> None:
    with pytest.raises(TopicExists):
        client.topics.create(topic)


def test_a_topic_made_anew_is_published_to(client: Client, topic: str) -> None:
    assert client.publish(topic, "old", partition=0).offset == 0
    client.topics.delete(topic)
    client.topics.create(topic, partitions=1)
    assert client.publish(topic, "new").offset == 0


@pytest.mark.parametrize("name", ["", "a/b", "x" * 300, ".."])
def test_a_name_that_is_none_is_refused(client: Client, name: str) -> None:
    with pytest.raises(InvalidArgument):
        client.topics.create(name)


def test_configs_are_set_and_put_back(client: Client, topic: str) -> None:
    client.topics.set_configs(topic, {"retention.ms": "1234"})
    changed = {each.name: each for each in client.topics.configs(topic)}["retention.ms"]
    assert (changed.value, changed.is_default) == ("1234", False)
    client.topics.set_configs(topic, {"retention.ms": None})
    back = {each.name: each for each in client.topics.configs(topic)}["retention.ms"]
    assert (back.value, back.is_default) == ("604800000", True)
    with pytest.raises(InvalidArgument):
        client.topics.set_configs(topic, {"retention.ms": "soon"})


def test_partitions_are_added_and_used(client: Client, topic: str) -> None:
    client.publish(topic, "before")
    client.topics.add_partitions(topic, 5)
    assert client.publish(topic, "after", partition=4).offset == 0
    with pytest.raises(InvalidArgument):
        client.topics.add_partitions(topic, 2)


def test_offsets_of_the_beginning_and_the_end(client: Client, topic: str) -> None:
    client.publish(topic, "v", partition=1)
    assert client.topics.offsets(topic, "earliest") == {0: 0, 1: 0, 2: 0}
    assert client.topics.offsets(topic) == {0: 0, 1: 1, 2: 0}
