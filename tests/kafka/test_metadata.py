"""Metadata: which topics are the broker's own, and what clients may do."""

import pytest

from riverlog.broker.internal_topics import OFFSETS_TOPIC
from riverlog.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.kafka.serving import serving

OF_TOPICS, OF_CLUSTER = 3576, 8096
NOT_ASKED = -(2**31)


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("version", range(8, 14))
async def test_everything_is_allowed_to_those_who_ask(version: int, asks: bool) -> None:
    async with serving() as running:
        await running.create("orders")
        names = ["orders", "nowhere"]
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in names],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=asks,
            include_cluster_authorized_operations=asks and version <= 10,
        )
        response = await running.ask(request, version)
    found, missing = response.topics
    assert found.topic_authorized_operations == (OF_TOPICS if asks else NOT_ASKED)
    assert missing.topic_authorized_operations == NOT_ASKED
    if version <= 10:
        assert response.cluster_authorized_operations == (OF_CLUSTER if asks else NOT_ASKED)


async def test_the_brokers_own_topics_are_told_apart() -> None:
    async with serving() as running:
        await running.create("orders")
        await running.broker.ensure_topic(OFFSETS_TOPIC)
        response = await running.ask(MetadataRequest(topics=None), 12)
    internal = {topic.name: topic.is_internal for topic in response.topics}
    assert internal == {"orders": False, OFFSETS_TOPIC: True}


async def test_a_topic_named_twice_is_told_once_in_its_place() -> None:
    async with serving() as running:
        made = [await running.create(name) for name in ("a", "b")]
        names = [MetadataRequestTopic(name=name) for name in ("b", "a", "b")]
        by_name = await running.ask(MetadataRequest(topics=names), 12)
        ids = [MetadataRequestTopic(name=None, topic_id=made[n].topic_id) for n in (1, 0, 1)]
        by_id = await running.ask(MetadataRequest(topics=ids), 12)
    assert [topic.name for topic in by_name.topics] == ["b", "a"]
    assert [topic.name for topic in by_id.topics] == ["b", "a"]
