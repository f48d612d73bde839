"""The topic that groups are kept in: clients read it, and leave it as it is."""

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.delete_topics import DeleteTopicsRequest
from riverlog.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.kafka.group_client import WireMember
from tests.kafka.serving import batch_of, serving

TOPIC = "__consumer_offsets"


async def test_it_is_listed_as_internal() -> None:
    async with serving() as running:
        await running.create("orders")
        await WireMember.connect(running)
        response = await running.ask(MetadataRequest(topics=None), 9)
    assert {topic.name: topic.is_internal for topic in response.topics} == {
        "orders": False,
        TOPIC: True,
    }


async def test_asking_for_it_makes_it_as_groups_would() -> None:
    async with serving() as running:
        asked = [MetadataRequestTopic(name=TOPIC)]
        request = MetadataRequest(topics=asked, allow_auto_topic_creation=True)
        (topic,) = (await running.ask(request, 9)).topics
        assert len(topic.partitions) == running.broker.group_settings.partition_count
        assert running.broker.topic(TOPIC).configs["cleanup.policy"] == "compact"


@pytest.mark.parametrize("topics", [(TOPIC,), (TOPIC, "orders")])
async def test_clients_do_not_write_to_it(topics: tuple[str, ...]) -> None:
    async with serving() as running:
        await running.create("orders")
        await WireMember.connect(running)
        data = PartitionProduceData(index=0, records=batch_of(1))
        request = ProduceRequest(
            acks=-1,
            timeout_ms=1000,
            topic_data=[TopicProduceData(name=name, partition_data=[data]) for name in topics],
        )
        response = await running.ask(request, 9)
    codes = {each.name: each.partition_responses[0].error_code for each in response.responses}
    assert codes.pop(TOPIC) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert set(codes.values()) <= {ErrorCode.NONE}


async def test_clients_do_not_delete_it() -> None:
    async with serving() as running:
        await WireMember.connect(running)
        request = DeleteTopicsRequest(topic_names=[TOPIC], timeout_ms=1000)
        (result,) = (await running.ask(request, 5)).responses
        assert result.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
        assert running.broker.topics.by_name(TOPIC) is not None
