"""Produce v3-13.

* v0-2 are advertised and not served: librdkafka asks for v0 before it compresses. v13 names topics
  by id.
* zstd is taken from v7 on, UNSUPPORTED_COMPRESSION_TYPE before: who speaks v6 cannot read it.
* A request for more than 20,000 partitions closes the connection: its reply, and what it takes to
  make it, would be many times as large as the request. Kafka knows no such bound.
* acks=0 gets no reply, and a broken connection if anything was refused; acks=1 one when the
  operating system has the bytes; acks=-1 one when they are durable. Whatever was asked for,
  everything is synced at once.
* Large or compressed batches of compacted topics are opened in a thread first; without acks, a
  refusal after that breaks nothing off.
* A repeated batch of an idempotent producer is answered with the offset of its original, when
  that is as durable as was asked for.
* What it sent behind a batch that the disk refused gets KAFKA_STORAGE_ERROR, too: Kafka calls it
  out of order, and librdkafka then begins a new epoch and may have records in the log twice.
* A refusal tells the log start offset where Kafka's does, and (v8) which records are to blame: for
  keys that are missing in compacted topics, and for times. We never throttle.
"""

from functools import partial

from riverlog.broker.errors import RefusedRecords
from riverlog.broker.opening import Opened
from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import (
    ANSWERABLE,
    InvalidRequiredAcks,
    UnsupportedCompression,
    code_of,
    message_of,
)
from riverlog.kafka.later import HangUp, Later
from riverlog.log.partition import Appended, Partition
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
from riverlog.protocol.wire import Buffer, WireError
from riverlog.records.batch import read_header
from riverlog.records.compression import Codec
from riverlog.records.errors import BatchError, InvalidRecord

TOPIC_IDS_FROM = 13
ZSTD_FROM = 7
# More than a client can have batches for in a megabyte.
PARTITIONS_MAX = 20_000

_ALL = -1
_ACKS = (-1, 0, 1)

# What a log refuses, after a look at the batch, is answered with its start offset.
_REFUSED_BY_LOG = (FencedProducer, InvalidRecord, OutOfOrderSequence, RefusedRecords)

# A partition whose records must be durable up to an offset before the answer for it may leave.
Unsafe = tuple[PartitionProduceResponse, Partition, int]


# A partition whose records have to be opened before they are appended.
Unopened = tuple[PartitionProduceResponse, Partition, Buffer]


def handle(request: ProduceRequest, context: Context) -> Answer:
    _check_count(request)
    unsafe: list[Unsafe] = []
    unopened: list[Unopened] = []
    topics = []
    has_refused = False
    for topic_data in request.topic_data:
        partitions = [
            _append(topic_data, data, request.acks, context, unsafe, unopened)
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
    response = ProduceResponse(responses=topics)
    later = None
    if unsafe or unopened:
        later = _when_durable(response, unsafe, unopened, request.acks, context)
    if request.acks == 0:
        if has_refused:
            raise HangUp
        return None
    return later or response


def _check_count(request: ProduceRequest) -> None:
    """Before anything is appended: who is cut off must not have written."""
    count = 0
    for topic_data in request.topic_data:
        count += 1 + len(topic_data.partition_data)
        if count > PARTITIONS_MAX:
            raise WireError(f"more than {PARTITIONS_MAX} topics and partitions to produce to")


def refused(
    index: int, error: Exception, partition: Partition | None = None, records: Buffer = b""
) -> PartitionProduceResponse:
    """The answer for a partition that took nothing; without one if it was not found."""
    answer = PartitionProduceResponse(
        index=index, error_code=code_of(error), base_offset=-1, error_message=message_of(error)
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
    unopened: list[Unopened],
) -> PartitionProduceResponse:
    """Appends to one partition; adds to `unsafe` or `unopened` what the reply has to wait for."""
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
        if broker.opens_apart(partition, records):
            answer = PartitionProduceResponse(index=data.index, base_offset=-1)
            unopened.append((answer, partition, records))
            return answer
        appended = broker.append(partition, records)
    except ANSWERABLE as error:
        return refused(data.index, error, partition, records)
    answer = _taken(data.index, partition, appended)
    if acks == _ALL and appended.end_offset > partition.high_watermark:
        unsafe.append((answer, partition, appended.end_offset))
    return answer


def _taken(index: int, partition: Partition, appended: Appended) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.append_time_ms,
        log_start_offset=partition.log_start_offset,
    )


def _when_durable(
    response: ProduceResponse,
    unsafe: list[Unsafe],
    unopened: list[Unopened],
    acks: int,
    context: Context,
) -> Later:
    """The response, once every partition's records are as safe as asked for, or never will be."""
    later = Later()
    left = len(unsafe) + len(unopened)

    def settle(answer: PartitionProduceResponse, error: Exception | None) -> None:
        nonlocal left
        if error is not None:
            answer.error_code = code_of(error)
            answer.error_message = message_of(error)
            answer.base_offset = -1
        left -= 1
        if not left:
            later.finish(response)

    def append_opened(
        answer: PartitionProduceResponse, partition: Partition, records: Buffer, opened: Opened
    ) -> None:
        try:
            appended = context.broker.append(partition, records, opened)
        except ANSWERABLE as error:
            _become(answer, refused(answer.index, error, partition, records))
            settle(answer, None)
            return
        _become(answer, _taken(answer.index, partition, appended))
        if acks == _ALL and appended.end_offset > partition.high_watermark:
            partition.waiting.tell(appended.end_offset, partial(settle, answer))
        else:
            settle(answer, None)

    for answer, partition, end_offset in unsafe:
        partition.waiting.tell(end_offset, partial(settle, answer))
    for answer, partition, records in unopened:
        context.broker.opening.open(records, partial(append_opened, answer, partition, records))
    return later


def _become(answer: PartitionProduceResponse, other: PartitionProduceResponse) -> None:
    """Lets an answer that stands in its place in the response say what another one says."""
    for field in PartitionProduceResponse.FIELDS:  # type: ignore[attr-defined]  # a declared struct
        setattr(answer, field.name, getattr(other, field.name))
