"""Produce: what refusals tell, topics by id, and failures that nobody waits for."""

from typing import Any

import pytest

from riverlog.broker.internal_topics import OFFSETS_TOPIC
from riverlog.kafka.listener import Listener
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.metadata import MetadataRequest
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.record import Record
from tests.kafka.serving import Serving, serving

BEGIN, SOON = 1_000, 2**62


def batch(*keys: bytes | None, time_ms: int = BEGIN, **rest: Any) -> bytes:
    records = [Record(number, time_ms, key, b"value") for number, key in enumerate(keys)]
    return build_batch(records, **rest)


def producing(
    records: bytes | None, *, name: str = "orders", topic_id: bytes = bytes(16), acks: int = -1,
    partitions: tuple[int, ...] = (0,),
) -> ProduceRequest:  # fmt: skip
    data = [PartitionProduceData(index=index, records=records) for index in partitions]
    topic = TopicProduceData(name=name, topic_id=topic_id, partition_data=data)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])


async def produce(
    running: Serving, records: bytes | None, *, version: int = 9, **rest: Any
) -> PartitionProduceResponse:
    response = await running.ask(producing(records, **rest), version)
    answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
    return answer


async def test_a_compacted_topic_wants_keys_and_says_where_there_is_none() -> None:
    async with serving() as running:
        await running.broker.create_topic("orders", 1, {"cleanup.policy": "compact"})
        refused = await produce(running, batch(b"a", None, b"b"))
        taken = await produce(running, batch(b"a", b"b"))
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in refused.record_errors] == [1]
    assert all(error.batch_index_error_message for error in refused.record_errors)
    assert refused.error_message
    assert (taken.error_code, taken.base_offset) == (ErrorCode.NONE, 0)


async def test_a_topic_that_begins_to_compact_wants_keys_from_then_on() -> None:
    async with serving() as running:
        await running.create("orders")
        before = await produce(running, batch(None))
        await running.broker.changes.set_configs("orders", {"cleanup.policy": "compact"})
        after = await produce(running, batch(None))
    assert [before.error_code, after.error_code] == [ErrorCode.NONE, ErrorCode.INVALID_RECORD]


@pytest.mark.parametrize(
    ("records", "code", "log_start_offset"),
    [
        (batch(b"k", time_ms=SOON), ErrorCode.INVALID_TIMESTAMP, 1),
        (batch(b"k", producer_id=7, producer_epoch=0), ErrorCode.INVALID_RECORD, 1),
        (batch(b"k", producer_id=7, producer_epoch=0, base_sequence=9),
         ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 1),
        (batch(b"k", is_control=True), ErrorCode.INVALID_RECORD, 1),
        (batch(b"k", b"k") + batch(b"k"), ErrorCode.INVALID_RECORD, -1),
        (b"", ErrorCode.INVALID_RECORD, -1),
        (None, ErrorCode.INVALID_RECORD, -1),
        (batch(b"k")[:-1] + b"?", ErrorCode.CORRUPT_MESSAGE, -1),
        (batch(b"x" * (2 << 20)), ErrorCode.MESSAGE_TOO_LARGE, -1),
        (batch(b"k", producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True),
         ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1),
    ],
)  # fmt: skip
async def test_a_refusal_tells_where_the_log_begins_if_the_log_gave_it(
    records: bytes | None, code: ErrorCode, log_start_offset: int
) -> None:
    async with serving() as running:
        await running.create("orders")
        first = batch(b"k", producer_id=7, producer_epoch=0, base_sequence=0)
        assert (await produce(running, first)).error_code == ErrorCode.NONE
        moved = running.broker.partition(running.broker.topic("orders"), 0).delete_before(1)
        assert moved is not None
        await moved
        refused = await produce(running, records)
    assert (refused.error_code, refused.base_offset) == (code, -1)
    assert refused.log_start_offset == log_start_offset
    assert [error.batch_index for error in refused.record_errors] == [0] * (
        code == ErrorCode.INVALID_TIMESTAMP
    )


@pytest.mark.parametrize("partitions", [(0,), (0, 1)])
@pytest.mark.parametrize("version", [6, 7])
async def test_zstd_is_taken_from_version_7_on(version: int, partitions: tuple[int, ...]) -> None:
    async with serving() as running:
        await running.create("orders", 2)
        records = batch(b"k", codec=Codec.ZSTD)
        answer = await produce(running, records, version=version, partitions=partitions)
    code = ErrorCode.NONE if version >= 7 else ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert answer.error_code == code


@pytest.mark.parametrize("partitions", [(0,), (0, 1)])
async def test_topics_are_named_by_id_from_version_13_on(partitions: tuple[int, ...]) -> None:
    async with serving() as running:
        topic_id = (await running.create("orders", 2)).topic_id
        request = producing(batch(b"k"), name="", topic_id=topic_id, partitions=partitions)
        (topic,) = (await running.ask(request, 13)).responses
        unknown = await produce(running, batch(b"k"), topic_id=b"\x07" * 16, version=13)
        nobody = await produce(running, batch(b"k"), version=13)
    assert topic.topic_id == topic_id
    assert [answer.error_code for answer in topic.partition_responses] == [0] * len(partitions)
    assert unknown.error_code == nobody.error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_the_brokers_own_topics_are_not_written_by_id_either() -> None:
    async with serving() as running:
        topic_id = (await running.broker.ensure_topic(OFFSETS_TOPIC)).topic_id
        refused = await produce(running, batch(b"k"), topic_id=topic_id, version=13)
    assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize(
    "failing",
    [
        producing(batch(b"k"), name="nowhere", acks=0),
        producing(batch(b"k")[:-1] + b"?", acks=0),
        producing(batch(b"k"), partitions=(0, 9), acks=0),
    ],
)
async def test_who_waits_for_no_reply_hears_of_a_failure_by_a_broken_connection(
    failing: ProduceRequest,
) -> None:
    async with serving() as running:
        await running.create("orders")
        client = await running.connect()
        client.send(producing(batch(b"k"), acks=0), 9)
        assert await client.ask(MetadataRequest(topics=None), 9)
        client.send(failing, 9)
        assert await client.is_cut_off()
        assert await running.ask(MetadataRequest(topics=None), 9)
        assert in_flight_bytes(running.listener) == 0


@pytest.mark.parametrize(("topic_count", "partition_count"), [(1, 19_999), (20_000, 0)])
async def test_more_partitions_than_may_be_in_a_request_close_the_connection(
    topic_count: int, partition_count: int
) -> None:
    async with serving() as running:
        await running.create("orders")
        nothing = [PartitionProduceData(index=0, records=None)] * partition_count
        nowhere = TopicProduceData(name="nowhere", partition_data=nothing)
        request = producing(batch(b"k"))
        request.topic_data = [*request.topic_data, *[nowhere] * topic_count]
        client = await running.connect()
        client.send(request, 9)
        assert await client.is_cut_off()
        taken = await produce(running, batch(b"k"))
        assert in_flight_bytes(running.listener) == 0
    assert taken.base_offset == 0


async def test_as_many_partitions_as_may_be_in_a_request_are_answered() -> None:
    async with serving() as running:
        await running.create("orders")
        request = producing(None, partitions=tuple(range(19_999)))
        (topic,) = (await running.ask(request, 9)).responses
    assert len(topic.partition_responses) == 19_999


def in_flight_bytes(listener: Listener) -> int:
    """What the door believes to be answering still."""
    return listener._budget.bytes_in_flight
