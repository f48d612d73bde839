"""Names that would be paths, or that are too long: of topics, groups and transactions."""

from pathlib import Path

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from riverlog.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from riverlog.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from riverlog.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from riverlog.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.conformance.clients.raw_connection import RawConnection
from tests.hostile.scene import BYSTANDERS_TOPIC, Scene

NO_TOPICS = ["", ".", "..", "../x", "a/b", "a\\b", "a b", "a\0b", "ä", "x" * 250]
ODD_NAMES = ["..", "../../x", "/etc/passwd", "a/b", "a\0b", "a\nb", "ä", "x" * 32_000]


def create(client: RawConnection, name: str) -> int:
    topic = CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    (result,) = client.ask(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse).topics
    return result.error_code


def names_around(data: Path) -> set[str]:
    """What lies beside the data directory, and in it."""
    return {path.name for place in (data.parent, data) for path in place.iterdir()}


@pytest.mark.parametrize("name", NO_TOPICS)
def test_a_name_that_would_be_a_path_is_no_topic(scene: Scene, name: str) -> None:
    before = names_around(scene.broker.data)
    with scene.attack():
        client = scene.connect()
        assert create(client, name) == ErrorCode.INVALID_TOPIC_EXCEPTION
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
        (told,) = client.ask(asked, 9, MetadataResponse).topics
        assert told.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert names_around(scene.broker.data) == before


def test_names_that_metrics_could_not_tell_apart_are_not_both_taken(scene: Scene) -> None:
    with scene.attack():
        client = scene.connect()
        assert create(client, "hostile.one") == ErrorCode.NONE
        assert create(client, "hostile_one") == ErrorCode.INVALID_TOPIC_EXCEPTION
        request = DeleteTopicsRequest(topic_names=["hostile.one"], timeout_ms=1_000)
        (deleted,) = client.ask(request, 4, DeleteTopicsResponse).responses
        assert deleted.error_code == ErrorCode.NONE


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_group_may_have_any_name_for_it_is_never_a_path(scene: Scene, name: str) -> None:
    before = names_around(scene.broker.data)
    offset = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=1, committed_metadata=""
    )
    topic = OffsetCommitRequestTopic(name=BYSTANDERS_TOPIC, partitions=[offset])
    commit = OffsetCommitRequest(
        group_id=name, generation_id_or_member_epoch=-1, member_id="", topics=[topic]
    )
    with scene.attack():
        client = scene.connect()
        found = client.ask(FindCoordinatorRequest(key=name), 1, FindCoordinatorResponse)
        assert found.error_code == ErrorCode.NONE
        (told,) = client.ask(commit, 7, OffsetCommitResponse).topics
        assert told.partitions[0].error_code == ErrorCode.NONE
    assert names_around(scene.broker.data) == before


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_name_of_a_transaction_is_never_a_path(scene: Scene, name: str) -> None:
    before = names_around(scene.broker.data)
    asked = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=1_000)
    with scene.attack():
        told = scene.connect().ask(asked, 1, InitProducerIdResponse)
        assert told.error_code != ErrorCode.NONE
    assert names_around(scene.broker.data) == before
