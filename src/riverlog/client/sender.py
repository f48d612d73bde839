"""Sending: batches of every lane to the leaders of their partitions, and what becomes of them."""

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from riverlog.client.cluster import Cluster
from riverlog.client.codes import IDENTITY_LOST, MOVED, OVERSIZED, PASSING, UNCERTAIN, failure
from riverlog.client.connection import ConnectionLost
from riverlog.client.errors import ClientError, InvalidArgument, TimedOut, Unreachable
from riverlog.client.lane import Batch, Identity, Lane, Miss
from riverlog.client.waiting import Deadline
from riverlog.config import MIB
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from riverlog.records.builder import build_batch
from riverlog.records.errors import BatchError
from riverlog.runtime.tasks import Supervisor

PUBLISHING = "publish"
ALL_REPLICAS = -1
REQUEST_BYTES_MAX = 1 * MIB


class _Sending(NamedTuple):
    lane: Lane
    batch: Batch


class Sender:
    """Empties lanes. Belongs to one event loop."""

    def __init__(self, cluster: Cluster, tasks: Supervisor) -> None:
        self._cluster = cluster
        self._settings = cluster.settings
        self._clock = cluster.world.clock
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._busy: dict[Lane, None] = {}
        self._identity: Identity | None = None
        self._identifying = asyncio.Lock()
        self._is_woken = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._exchange_count = 0

    def push(self, lane: Lane) -> None:
        """There is something to send in this lane; it leaves in this turn of the loop."""
        self._busy[lane] = None
        self._wake()

    def _wake(self) -> None:
        if not self._is_woken:
            # Soon and not now: what is added in the same turn goes into the same batches.
            self._is_woken = True
            self._loop.call_soon(self._dispatch)

    def _wake_at(self, moment_ms: int, now_ms: int) -> None:
        """Sees to what waits until then; one timer is enough, as it leads to the next."""
        if self._timer is None or moment_ms < self._timer_ms:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_ms = moment_ms
            self._timer = self._loop.call_later((moment_ms - now_ms) / 1000, self._timed)

    def _timed(self) -> None:
        self._timer = None
        self._dispatch()

    def _dispatch(self) -> None:
        self._is_woken = False
        now_ms = self._clock.monotonic_ms()
        while sending := [
            _Sending(lane, batch) for lane in self._busy if (batch := lane.take(now_ms)) is not None
        ]:
            by_leader: dict[int | None, list[_Sending]] = {}
            for sent in sending:
                leader = self._cluster.leader_of(sent.lane.topic, sent.lane.partition)
                by_leader.setdefault(leader, []).append(sent)
            for leader, theirs in by_leader.items():
                for part in _cut(theirs):
                    self._exchange_count += 1
                    exchange = partial(self._exchange, leader, part)
                    self._tasks.start(f"publish {self._exchange_count}", exchange)
        for lane in list(self._busy):
            if lane.is_idle:
                del self._busy[lane]
            elif lane.resume_ms > now_ms:
                self._wake_at(lane.resume_ms, now_ms)

    async def _exchange(self, leader: int | None, sending: list[_Sending]) -> None:
        deadline = min((sent.batch.deadline for sent in sending), key=lambda each: each.left_ms)
        topics = {sent.lane.topic for sent in sending}
        try:
            if leader is None:
                await self._find_leaders(sending, topics, deadline)
                return
            await self._identify(sending, deadline)
            request = self._request(sending)
            response = await self._cluster.ask_node(
                leader, request, ProduceResponse, deadline, PUBLISHING
            )
        except ConnectionLost as lost:
            self._cluster.forget(topics)
            self._missed(sending, Miss.UNCERTAIN if lost.was_sent else Miss.PASSING, lost)
        except (Unreachable, TimedOut) as error:
            self._missed(sending, Miss.PASSING, error)
        except ClientError as error:
            self._missed(sending, Miss.FINAL, error)
        except BatchError as error:
            self._missed(sending, Miss.FINAL, InvalidArgument(str(error)))
        else:
            self._read(response, sending)
        finally:
            self._wake()

    async def _find_leaders(
        self, sending: list[_Sending], topics: set[str], deadline: Deadline
    ) -> None:
        for topic in topics:
            await self._cluster.topic(topic, deadline, may_create=self._settings.auto_create_topics)
        for sent in sending:
            where = f"{sent.lane.topic}/{sent.lane.partition}"
            is_led = self._cluster.leader_of(sent.lane.topic, sent.lane.partition) is not None
            trouble = None if is_led else TimedOut(f"{where} has no leader")
            if not is_led:
                self._cluster.forget([sent.lane.topic])
            self._missed([sent], Miss.PASSING, trouble)

    async def _identify(self, sending: list[_Sending], deadline: Deadline) -> None:
        """Gives every lane an identity; one that gave its own up gets one nobody had before."""
        for lane, _ in sending:
            if lane.identity is not None:
                continue
            async with self._identifying:
                if self._identity is None or self._identity == lane.spent:
                    self._identity = await self._new_identity(deadline)
            lane.identity = self._identity

    async def _new_identity(self, deadline: Deadline) -> Identity:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)
        backoff = self._cluster.backoff()
        while True:
            response = await self._cluster.ask(request, InitProducerIdResponse, deadline)
            if response.error_code == ErrorCode.NONE:
                return Identity(response.producer_id, response.producer_epoch)
            trouble = failure(response.error_code, "a producer id")
            if response.error_code not in MOVED | PASSING | UNCERTAIN:
                raise trouble
            await self._cluster.pause(backoff, deadline, trouble)

    def _request(self, sending: list[_Sending]) -> ProduceRequest:
        by_topic: dict[str, list[PartitionProduceData]] = {}
        for lane, batch in sending:
            assert lane.identity is not None, "identified before"
            assert batch.base_sequence is not None, "numbered when it was taken"
            if batch.encoded is None:
                batch.encoded = build_batch(
                    batch.records,
                    codec=self._settings.compression,
                    producer_id=lane.identity.producer_id,
                    producer_epoch=lane.identity.epoch,
                    base_sequence=batch.base_sequence,
                )
            data = PartitionProduceData(index=lane.partition, records=batch.encoded)
            by_topic.setdefault(lane.topic, []).append(data)
        return ProduceRequest(
            acks=ALL_REPLICAS,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=[
                TopicProduceData(name=topic, partition_data=data)
                for topic, data in by_topic.items()
            ],
        )

    def _read(self, response: ProduceResponse, sending: list[_Sending]) -> None:
        answers: dict[tuple[str, int], PartitionProduceResponse] = {
            (topic.name, partition.index): partition
            for topic in response.responses
            for partition in topic.partition_responses
        }
        now_ms = self._clock.monotonic_ms()
        for sent in sending:
            lane, batch = sent
            answer = answers.get((lane.topic, lane.partition))
            if answer is None:
                lost = ConnectionLost("the broker's answer lacks a partition", was_sent=True)
                self._missed([sent], Miss.UNCERTAIN, lost)
            elif answer.error_code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                lane.confirm(batch, answer.base_offset, now_ms)
            else:
                where = f"{lane.topic}/{lane.partition}"
                trouble = failure(answer.error_code, where, answer.error_message)
                if answer.error_code in MOVED:
                    self._cluster.forget([lane.topic])
                self._missed([sent], _miss_of(answer.error_code), trouble)

    def _missed(self, sending: list[_Sending], miss: Miss, trouble: Exception | None) -> None:
        now_ms = self._clock.monotonic_ms()
        for lane, batch in sending:
            lane.missed(batch, miss, trouble, now_ms)


def _miss_of(code: int) -> Miss:
    if code in MOVED or code in PASSING:
        return Miss.PASSING
    if code in UNCERTAIN:
        return Miss.UNCERTAIN
    if code in IDENTITY_LOST:
        return Miss.IDENTITY
    return Miss.OVERSIZED if code in OVERSIZED else Miss.FINAL


def _cut(sending: list[_Sending]) -> Iterator[list[_Sending]]:
    """Requests of a bounded size, each with at least one batch."""
    part: list[_Sending] = []
    size_bytes = 0
    for sent in sending:
        if part and size_bytes + sent.batch.size_bytes > REQUEST_BYTES_MAX:
            yield part
            part, size_bytes = [], 0
        part.append(sent)
        size_bytes += sent.batch.size_bytes
    if part:
        yield part
