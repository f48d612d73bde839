"""Requests that name the same thing again and again, and those that ask for far too many."""

from typing import Any

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from riverlog.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from riverlog.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from riverlog.protocol.messages.describe_groups import DescribeGroupsRequest
from riverlog.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from riverlog.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from riverlog.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.hostile.scene import BYSTANDERS_TOPIC, Scene, frame_of
from tests.hostile.test_groups import commit, committed

TOPIC, DESCRIBE_CONFIGS, DESCRIBE_GROUPS, OFFSET_FETCH, DESCRIBE_LOG_DIRS = 2, 4, 5, 8, 4
MENTIONS = 10_000
REPLY_BYTES_MAX = 64 << 10
ASKING_AT_ONCE = 24

_RESOURCE = DescribeConfigsResource(
    resource_type=TOPIC, resource_name=BYSTANDERS_TOPIC, configuration_keys=None
)
_PLACES = OffsetFetchRequestTopics(name=BYSTANDERS_TOPIC, partition_indexes=[0] * MENTIONS)
REPEATED = {
    "a topic's settings": (
        DescribeConfigsRequest(resources=[_RESOURCE] * MENTIONS, include_documentation=True),
        DESCRIBE_CONFIGS,
    ),
    "a group": (DescribeGroupsRequest(groups=["texts"] * MENTIONS), DESCRIBE_GROUPS),
    "all offsets of a group": (
        OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id="texts", topics=None)] * MENTIONS
        ),
        OFFSET_FETCH,
    ),
    "an offset": (
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="texts", topics=[_PLACES])]),
        OFFSET_FETCH,
    ),
}


@pytest.mark.parametrize(("request_", "version"), REPEATED.values(), ids=REPEATED)
def test_what_is_named_again_and_again_is_told_once(
    scene: Scene, request_: Any, version: int
) -> None:
    with scene.attack() as bystander:
        client = scene.connect()
        client.ask(FindCoordinatorRequest(key="any"), 1, FindCoordinatorResponse)
        assert committed(client, commit("texts", "x" * 4_096)) == ErrorCode.NONE
        client.write(frame_of(request_, version))
        reply = client.receive()
        assert reply is not None
        assert len(reply) < REPLY_BYTES_MAX
        bystander.wait_for_more()


def test_a_topic_does_not_grow_by_more_than_ten_thousand_partitions_at_once(scene: Scene) -> None:
    wanted = CreatePartitionsTopic(name=BYSTANDERS_TOPIC, count=65_536, assignments=None)
    request = CreatePartitionsRequest(topics=[wanted], timeout_ms=1_000, validate_only=False)
    with scene.attack():
        (result,) = scene.connect().ask(request, 3, CreatePartitionsResponse).results
        assert result.error_code == ErrorCode.POLICY_VIOLATION


def test_sizes_of_ten_thousand_partitions_cost_little_however_many_ask(scene: Scene) -> None:
    topic = CreatableTopic(
        name="wide", num_partitions=10_000, replication_factor=1, assignments=[], configs=[]
    )
    frame = frame_of(DescribeLogDirsRequest(topics=None), DESCRIBE_LOG_DIRS)
    with scene.attack():
        client = scene.connect()
        (made,) = client.ask(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse).topics
        assert made.error_code == ErrorCode.NONE
        clients = [scene.connect() for _ in range(ASKING_AT_ONCE)]
        for each in clients:
            each.write(frame)
        for each in clients:
            reply = each.receive()
            assert reply is not None
            assert len(reply) > 100_000
        ended = DeleteTopicsRequest(topics=[DeleteTopicState(name="wide")], timeout_ms=1_000)
        client.ask(ended, 6, DeleteTopicsResponse)


def test_producing_to_a_million_partitions_closes_the_connection(scene: Scene) -> None:
    places = [PartitionProduceData(index=0, records=None)] * 1_000_000
    topic = TopicProduceData(name="nowhere", partition_data=places)
    request = ProduceRequest(acks=1, timeout_ms=1_000, topic_data=[topic])
    with scene.attack() as bystander:
        client = scene.connect()
        client.write(frame_of(request, 9))
        assert client.is_cut_off()
        bystander.wait_for_more()
