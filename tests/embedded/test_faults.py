"""Faults as they look on the wire, and that nothing is left of them."""

import time
from collections.abc import Iterator

import pytest

import riverlog
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.frames import PREFIX_BYTES
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from riverlog.protocol.messages.produce import ProduceResponse
from tests.conformance.clients.raw_connection import connected
from tests.embedded.talking import (
    TOPIC,
    fetch,
    partition_counts,
    produce,
    produce_request,
    values,
)


def frame_of(value: bytes, acks: int = -1) -> bytes:
    parts = request_frame(produce_request(value, acks=acks), 9, 1, "raw")
    return b"".join(parts)[PREFIX_BYTES:]


@pytest.fixture
def broker() -> Iterator[riverlog.Broker]:
    with riverlog.Broker(topics={TOPIC: 1}) as broker:
        yield broker


def test_a_delayed_reply_leaves_later_and_only_while_the_fault_is_there(
    broker: riverlog.Broker,
) -> None:
    with broker.faults.delay("Produce", 150) as slow:
        started = time.monotonic()
        assert produce(broker.address, b"slow").error_code == 0
        assert time.monotonic() - started >= 0.15
        assert fetch(broker.address).error_code == 0
        assert slow.struck == 1
    started = time.monotonic()
    produce(broker.address, b"quick")
    assert time.monotonic() - started < 0.15
    assert slow.struck == 1


@pytest.mark.parametrize("end", ["remove", "clear", "stop"])
def test_replies_that_are_held_back_leave_when_the_fault_ends(
    broker: riverlog.Broker, end: str
) -> None:
    slow = broker.faults.delay("Produce", 60_000)
    with connected(broker.address) as connection:
        connection.send(frame_of(b"x"))
        while not slow.struck:
            time.sleep(0.001)
        {"remove": slow.remove, "clear": broker.faults.clear, "stop": broker.stop}[end]()
        assert connection.receive() is not None


def test_delayed_requests_keep_their_order(broker: riverlog.Broker) -> None:
    broker.faults.delay("Produce", 100, times=1)
    with connected(broker.address) as connection:
        for value in (b"first", b"second"):
            connection.send(frame_of(value))
        replies = [connection.receive(), connection.receive()]
    assert None not in replies
    assert values(broker.address) == [b"first", b"second"]


def test_a_failed_request_is_not_done_and_the_next_one_is(broker: riverlog.Broker) -> None:
    refused = broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=2)
    codes = [produce(broker.address, b"x%d" % number).error_code for number in range(3)]
    assert codes == [6, 6, 0]
    assert refused.struck == 2
    assert values(broker.address) == [b"x2"]


def test_an_error_may_be_told_by_its_code(broker: riverlog.Broker) -> None:
    broker.faults.fail("produce", 87)
    assert produce(broker.address, b"x").error_code == ErrorCode.INVALID_RECORD


def test_metadata_still_names_the_broker_beside_an_error(broker: riverlog.Broker) -> None:
    broker.faults.fail("Metadata", "LEADER_NOT_AVAILABLE")
    request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
    with connected(broker.address) as connection:
        refused = connection.ask(request, 9, MetadataResponse)
    assert [broker.port for broker in refused.brokers] == [broker.address.port]
    assert [(t.name, t.error_code, len(t.partitions)) for t in refused.topics] == [(TOPIC, 5, 0)]
    assert partition_counts(broker.address, TOPIC) == {TOPIC: 1}


def test_a_fetch_session_is_ended_so_that_every_partition_can_be_refused(
    broker: riverlog.Broker,
) -> None:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    whole = [FetchTopic(topic=TOPIC, partitions=[partition])]

    def request(session_id: int, epoch: int, topics: list[FetchTopic]) -> FetchRequest:
        return FetchRequest(
            max_wait_ms=0, min_bytes=0, session_id=session_id, session_epoch=epoch, topics=topics
        )

    with connected(broker.address) as connection:
        session_id = connection.ask(request(0, 0, whole), 12, FetchResponse).session_id
        assert session_id
        refused = broker.faults.fail("Fetch", "NOT_LEADER_OR_FOLLOWER")
        ended = connection.ask(request(session_id, 1, []), 12, FetchResponse)
        assert ended.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        assert refused.struck == 0
        answer = connection.ask(request(0, 0, whole), 12, FetchResponse)
    assert answer.error_code == ErrorCode.NONE
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert refused.struck == 1


def test_a_request_without_room_for_an_error_is_served_and_not_counted(
    broker: riverlog.Broker,
) -> None:
    refused = broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    request = produce_request(b"x")
    request.topic_data = []
    with connected(broker.address) as connection:
        assert not connection.ask(request, 9, ProduceResponse).responses
    assert refused.struck == 0


def test_a_reply_that_is_on_its_way_is_lost_in_a_crash_at_once(broker: riverlog.Broker) -> None:
    slow = broker.faults.delay("Produce", 60_000)
    with connected(broker.address) as connection:
        connection.send(frame_of(b"written"))
        while not slow.struck:
            time.sleep(0.001)
        started = time.monotonic()
        broker.crash()
        assert connection.receive() is None
        assert time.monotonic() - started < 5
    broker.start()
    assert values(broker.address) == [b"written"]


def test_a_connection_breaks_before_a_request_is_done(
    broker: riverlog.Broker, caplog: pytest.LogCaptureFixture
) -> None:
    broker.faults.drop_connections("Produce")
    with connected(broker.address) as connection:
        connection.send(frame_of(b"never"))
        assert connection.receive() is None
    assert values(broker.address) == []
    assert produce(broker.address, b"again").base_offset == 0
    assert not caplog.records


@pytest.mark.parametrize("acks", [0, 1, -1])
def test_a_connection_breaks_after_a_request_was_done(broker: riverlog.Broker, acks: int) -> None:
    broker.faults.drop_connections("Produce", after=True)
    with connected(broker.address) as connection:
        connection.send(frame_of(b"done", acks))
        assert connection.receive() is None
    assert values(broker.address) == [b"done"]


def test_a_refused_request_that_wants_no_reply_costs_the_connection(
    broker: riverlog.Broker,
) -> None:
    refused = broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    with connected(broker.address) as connection:
        connection.send(frame_of(b"x", acks=0))
        assert connection.receive() is None
    assert refused.struck == 1
    assert values(broker.address) == []


def test_all_connections_can_be_broken_at_once(broker: riverlog.Broker) -> None:
    with connected(broker.address) as one, connected(broker.address) as other:
        broker.advance(0)  # It has accepted both when this is done.
        broker.faults.drop_connections()
        assert (one.receive(), other.receive()) == (None, None)
    assert produce(broker.address, b"x").error_code == 0


def test_faults_outlive_a_crash_and_end_when_they_are_cleared(broker: riverlog.Broker) -> None:
    produce(broker.address, b"before")
    broker.faults.fail("Produce", "KAFKA_STORAGE_ERROR", times=None)
    broker.faults.crash()
    assert produce(broker.address, b"x").error_code == 56
    broker.faults.clear()
    assert produce(broker.address, b"after").error_code == 0
    assert values(broker.address) == [b"before", b"after"]


def test_a_table_without_faults_is_the_one_that_was_served(broker: riverlog.Broker) -> None:
    apis = broker.running._app.apis
    served = dict(apis)
    fault = broker.faults.delay("Produce", 1)
    changed = {key for key, api in apis.items() if api is not served[key]}
    assert changed == {0}
    fault.remove()
    fault.remove()
    assert all(api is served[key] for key, api in apis.items())


@pytest.mark.parametrize(
    ("api", "error"),
    [("Produced", 6), ("Produce", "NO_SUCH"), ("Produce", 12_345), ("Produce", 0)],
)
def test_what_kafka_does_not_know_is_refused(
    broker: riverlog.Broker, api: str, error: int | str
) -> None:
    with pytest.raises(ValueError):
        broker.faults.fail(api, error)


def test_faults_can_be_asked_for_before_the_broker_starts() -> None:
    broker = riverlog.Broker(topics={TOPIC: 1})
    broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    with broker:
        assert produce(broker.address, b"x").error_code == 6
