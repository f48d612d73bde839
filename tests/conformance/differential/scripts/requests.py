"""Requests that several scripts send, with the parts that they do not care about filled in."""

from collections.abc import Sequence

from riverlog.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from riverlog.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.record import Record
from tests.conformance.differential.conversation import Conversation, Topic

ALL = -1
TIMEOUT_MS = 10_000
NOBODY = bytes(15) + b"\x07"


def batch(
    now_ms: int,
    count: int = 1,
    *,
    step_ms: int = 1,
    value: bytes | None = b"value",
    key: bytes | None = b"key",
    codec: Codec = Codec.NONE,
    producer: tuple[int, int, int] = (-1, -1, -1),
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytes:
    """Records at one time after the other; `producer` is id, epoch and first sequence."""
    records = [Record(i, now_ms + i * step_ms, key, value, (("h", b"1"),)) for i in range(count)]
    producer_id, epoch, sequence = producer
    return build_batch(
        records,
        codec=codec,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
        is_control=is_control,
    )


def produce(
    topic: Topic | str,
    records: bytes | None,
    *,
    partition: int = 0,
    acks: int = ALL,
    transactional_id: str | None = None,
) -> ProduceRequest:
    """One batch, or whatever else the bytes are, for one partition; a mere name has no id."""
    if isinstance(topic, str):
        topic = Topic(topic, NOBODY, 0)
    data = PartitionProduceData(index=partition, records=records)
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=TIMEOUT_MS,
        topic_data=[
            TopicProduceData(name=topic.name, topic_id=topic.topic_id, partition_data=[data])
        ],
    )


def fill(talk: Conversation, topic: Topic, batches: int = 1, count: int = 1) -> None:
    """Appends batches, off the record, until consumers can see them."""
    for number in range(batches):
        request = produce(topic, batch(talk.now_ms + number * count, count))
        reply = talk.look(request, 9)
        assert reply.responses[0].partition_responses[0].error_code == 0, reply


def fetch(
    topic: Topic | None,
    offset: int = 0,
    *,
    partition: int = 0,
    partition_max_bytes: int = 1 << 20,
    max_bytes: int = 1 << 20,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    leader_epoch: int = -1,
    session: tuple[int, int] = (0, -1),
    isolation_level: int = 0,
) -> FetchRequest:
    """One partition, by its name and its id; without a topic, what the session has."""
    topics: Sequence[FetchTopic] = []
    if topic is not None:
        wanted = FetchPartition(
            partition=partition,
            current_leader_epoch=leader_epoch,
            fetch_offset=offset,
            partition_max_bytes=partition_max_bytes,
        )
        topics = [FetchTopic(topic=topic.name, topic_id=topic.topic_id, partitions=[wanted])]
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation_level,
        session_id=session[0],
        session_epoch=session[1],
        topics=topics,
    )


def list_offsets(
    topic: str,
    *times_ms: int,
    partition: int = 0,
    leader_epoch: int = -1,
    isolation_level: int = 0,
) -> ListOffsetsRequest:
    """Asks for the offset at each time, which may be one of the special ones."""
    partitions = [
        ListOffsetsPartition(
            partition_index=partition, current_leader_epoch=leader_epoch, timestamp=time_ms
        )
        for time_ms in times_ms
    ]
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=topic, partitions=partitions)],
        timeout_ms=TIMEOUT_MS,
    )
