"""Produce v3-12.

* v0-2 are advertised and not served: librdkafka asks for v0 before it compresses.
* acks=0 gets no reply; acks=1 one when the operating system has the bytes; acks=-1 one when they
  are durable. Whatever was asked for, everything is synced at once.
* A repeated batch of an idempotent producer is answered with the offset of its original, when
  that is as durable as was asked for.
* v13 (topic ids) is not served yet. We never throttle.
"""

from functools import partial

from riverlog.kafka.apis import Answer, Context
from riverlog.kafka.errors import ANSWERABLE, code_of
from riverlog.kafka.later import Later
from riverlog.log.partition import Partition
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

_ALL = -1
_ACKS = (-1, 0, 1)

# A partition whose records must be durable up to an offset before the answer for it may leave.
Unsafe = tuple[PartitionProduceResponse, Partition, int]


def handle(request: ProduceRequest, context: Context) -> Answer:
    unsafe: list[Unsafe] = []
    topics = []
    for topic_data in request.topic_data:
        partitions = [
            _append(topic_data.name, data, request.acks, context, unsafe)
            for data in topic_data.partition_data
        ]
        topics.append(TopicProduceResponse(name=topic_data.name, partition_responses=partitions))
    if request.acks == 0:
        return None
    response = ProduceResponse(responses=topics)
    return _when_durable(response, unsafe) if unsafe else response


def refused(index: int, code: ErrorCode, message: str) -> PartitionProduceResponse:
    """The answer for a partition that took nothing."""
    return PartitionProduceResponse(
        index=index, error_code=code, base_offset=-1, error_message=message
    )


def _append(
    topic_name: str,
    data: PartitionProduceData,
    acks: int,
    context: Context,
    unsafe: list[Unsafe],
) -> PartitionProduceResponse:
    """Appends to one partition; adds to `unsafe` what the reply has to wait for."""
    broker = context.broker
    if acks not in _ACKS:
        return refused(data.index, ErrorCode.INVALID_REQUIRED_ACKS, "acks is -1, 0 or 1")
    try:
        partition = broker.partition(broker.topic(topic_name), data.index)
        appended = broker.append(partition, data.records if data.records is not None else b"")
    except ANSWERABLE as error:
        return refused(data.index, code_of(error), str(error))
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
