"""Fetches that ask for all there is, for far more than there is, or that never end."""

from pathlib import Path

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ReplicaState,
)
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import RawConnection, connected
from tests.hostile.scene import BYSTANDERS_TOPIC, Scene, frame_of, running
from tests.hostile.test_batches import have_topic, produce

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
LARGE_BATCH_BYTES = 1_000_000
LARGE_BATCHES = 3
NEVER_READING = 64
SESSIONS = 1_200
SESSIONS_MAX = 1_000


def fetch(
    topic: str, *asked: FetchPartition, bytes_max: int = INT32_MAX, epoch: int = -1
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=bytes_max,
        session_epoch=epoch,
        topics=[FetchTopic(topic=topic, partitions=asked)],
    )


def partition(index: int = 0, offset: int = 0) -> FetchPartition:
    return FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=INT32_MAX)


def have_large_topic(client: RawConnection) -> None:
    have_topic(client, "large", "delete")
    batch = build_batch([Record(0, -1, None, bytes(LARGE_BATCH_BYTES))])
    for _ in range(LARGE_BATCHES):
        assert produce(client, "large", batch) == ErrorCode.NONE


def test_a_fetch_of_100_000_partitions_closes_the_connection(scene: Scene) -> None:
    request = fetch("nowhere", *map(partition, range(100_000)))
    with scene.attack() as bystander:
        client = scene.connect()
        client.write(frame_of(request, 12))
        assert client.is_cut_off()
        bystander.wait_for_more()


def test_fetches_of_5_000_partitions_rest_while_others_are_served(scene: Scene) -> None:
    request = fetch("nowhere", *map(partition, range(5_000)))
    with scene.attack() as bystander:
        clients = [scene.connect() for _ in range(2)]
        for client in clients:
            client.write(frame_of(request, 12))
        bystander.wait_for_more(20)
        for client in clients:
            answer = client.receive()
            assert answer is not None
            assert len(answer) > 5_000


def test_replies_that_nobody_reads_are_bounded_and_others_are_served(tmp_path: Path) -> None:
    with running(BrokerProcess(tmp_path, "--unread-replies-max-bytes", "2MiB")) as broker:
        scene = Scene(broker)
        with connected(broker) as client:
            have_large_topic(client)
        with scene.attack(memory_mib_max=96) as bystander:
            for _ in range(NEVER_READING):
                scene.connect().write(frame_of(fetch("large", partition()), 12) * 20)
            bystander.wait_for_more(50)
            reading = scene.connect()
            for _ in range(3):
                assert reading.ask(fetch("large", partition()), 12, FetchResponse).responses
        assert "replies dropped that were not read" in broker.stderr


def test_sessions_that_are_never_closed_are_a_thousand_at_most(scene: Scene) -> None:
    request = fetch(BYSTANDERS_TOPIC, partition(), bytes_max=1, epoch=0)
    with scene.attack():
        client = scene.connect()
        ids = [client.ask(request, 12, FetchResponse).session_id for _ in range(SESSIONS)]
        assert len(set(ids) - {0}) <= SESSIONS_MAX
        assert ids[-1] == 0
        assert client.ask(request, 12, FetchResponse).responses[0].partitions[0].records


@pytest.mark.parametrize("version", [12, 17])
def test_a_client_that_says_it_is_a_replica_is_answered_like_any_other(
    scene: Scene, version: int
) -> None:
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        replica_id=1,
        replica_state=ReplicaState(replica_id=1, replica_epoch=1),
        topics=[FetchTopic(topic=BYSTANDERS_TOPIC, topic_id=bytes(16), partitions=[partition()])],
    )
    with scene.attack():
        (topic,) = scene.connect().ask(request, version, FetchResponse).responses
        expected = ErrorCode.NONE if version < 13 else ErrorCode.UNKNOWN_TOPIC_ID
        assert topic.partitions[0].error_code == expected


@pytest.mark.parametrize("offset", [-1, -(2**63), INT64_MAX])
def test_an_offset_outside_of_the_log_is_told(scene: Scene, offset: int) -> None:
    request = fetch(BYSTANDERS_TOPIC, partition(offset=offset))
    with scene.attack():
        (topic,) = scene.connect().ask(request, 12, FetchResponse).responses
        assert topic.partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
