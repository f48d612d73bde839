"""Produce v3-13.

* v0-2 are advertised and not served: librdkafka asks for v0 before it compresses. v13 names topics
  by id.
* zstd is taken from v7 on, UNSUPPORTED_COMPRESSION_TYPE before: who speaks v6 cannot read it.
* acks=0 gets no reply, and a broken connection if anything was refused; acks=1 one when the
  operating system has the bytes; acks=-1 one when they are durable. Whatever was asked for,
  everything is synced at once.
* A repeated batch of an idempotent producer is answered with the offset of its original, when
  that is as durable as was asked for.
* A refusal tells the log start offset where Kafka's does, and (v8) which records are to blame: for
  keys that are missing in compacted topics, and for times. We never throttle.
"""

from functools import partial

from riverlog.broker.errors import RefusedRecords
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import ANSWERABLE, InvalidRequiredAcks, UnsupportedCompression, code_of
from riverlog.kafka.later import HangUp, Later
from riverlog.log.partition import Partition
from riverlog.log.producers import FencedProducer, OutOfOrderSequence
from riverlog.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from riverlog.protocol.wire import Buffer
from riverlog.records.batch import read_header
from riverlog.records.compression import Codec
from riverlog.records.errors import BatchError, InvalidRecord

TOPIC_IDS_FROM = 13
ZSTD_FROM = 7

_ALL = -1
_ACKS = (-1, 0, 1)

# What a log refuses, after a look at the batch, is answered with its start offset.
_REFUSED_BY_LOG = (FencedProducer, InvalidRecord, OutOfOrderSequence, RefusedRecords)

# A partition whose records must be durable up to an offset before the answer for it may leave.
Unsafe = tuple[PartitionProduceResponse, Partition, int]


def handle(request: ProduceRequest, context: Context) -> Answer:
    unsafe: list[Unsafe] = []
    topics = []
    has_refused = False
    for topic_data in request.topic_data:
        partitions = [
            _append(topic_data, data, request.acks, context, unsafe)
            for data in topic_data.partition_data
        ]
        has_refused |= any(answer.error_code for answer in partitions)
        topics.append(
            TopicProduceResponse(
                name=topic_data.name,
                topic_id=topic_data.topic_id,
                partition_responses=partitions,
            )
        )
    if request.acks == 0:
        if has_refused:
            raise HangUp
        return None
    response = ProduceResponse(responses=topics)
    return _when_durable(response, unsafe) if unsafe else response


def refused(
    index: int, error: Exception, partition: Partition | None = None, records: Buffer = b""
) -> PartitionProduceResponse:
    """The answer for a partition that took nothing; without one if it was not found."""
    answer = PartitionProduceResponse(
        index=index, error_code=code_of(error), base_offset=-1, error_message=str(error)
    )
    if partition is not None and isinstance(error, _REFUSED_BY_LOG) and _is_one_batch(records):
        answer.log_start_offset = partition.log_start_offset
    if isinstance(error, RefusedRecords):
        answer.record_errors = [
            BatchIndexAndErrorMessage(
                batch_index=one.position, batch_index_error_message=one.message
            )
            for one in error.reasons
        ]
    return answer


def uses_zstd(records: Buffer) -> bool:
    """Whether the first batch, if there is one, says that it is compressed with zstd."""
    try:
        return read_header(records).codec is Codec.ZSTD
    except BatchError:
        return False


def _is_one_batch(records: Buffer) -> bool:
    return len(records) > 0 and read_header(records).size_bytes == len(records)


def _append(
    topic_data: TopicProduceData,
    data: PartitionProduceData,
    acks: int,
    context: Context,
    unsafe: list[Unsafe],
) -> PartitionProduceResponse:
    """Appends to one partition; adds to `unsafe` what the reply has to wait for."""
    broker = context.broker
    partition = None
    records = data.records if data.records is not None else b""
    try:
        if acks not in _ACKS:
            raise InvalidRequiredAcks("acks is -1, 0 or 1")
        if context.version < ZSTD_FROM and uses_zstd(records):
            raise UnsupportedCompression(f"zstd is taken from version {ZSTD_FROM} on")
        name = topic_data.name
        if context.version >= TOPIC_IDS_FROM:
            name = broker.topic_by_id(topic_data.topic_id).name
        partition = broker.partition(broker.writable_topic(name), data.index)
        appended = broker.append(partition, records)
    except ANSWERABLE as error:
        return refused(data.index, error, partition, records)
    answer = PartitionProduceResponse(
        index=data.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.append_time_ms,
        log_start_offset=partition.log_start_offset,
    )
    if acks == _ALL and appended.end_offset > partition.high_watermark:
        unsafe.append((answer, partition, appended.end_offset))
    return answer


def _when_durable(response: ProduceResponse, unsafe: list[Unsafe]) -> Later:
    """The response, once every partition's records are durable or known not to be."""
    later = Later()
    left = len(unsafe)

    def settle(answer: PartitionProduceResponse, error: Exception | None) -> None:
        nonlocal left
        if error is not None:
            answer.error_code = code_of(error)
            answer.error_message = str(error)
            answer.base_offset = -1
        left -= 1
        if not left:
            later.finish(response)

    for answer, partition, end_offset in unsafe:
        partition.waiting.tell(end_offset, partial(settle, answer))
    return later
