"""The express lane: nobody can tell whether a request went through it, but for the time it took."""

import asyncio
import os
import socket
import stat
import struct
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from riverlog.kafka import express
from riverlog.kernel.express import is_available
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.headers import request_frame
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.delete_topics import DeleteTopicsRequest
from riverlog.protocol.messages.metadata import MetadataRequest
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from riverlog.records.builder import build_batch
from riverlog.records.record import Record
from riverlog.testing.disk_faults import Effect, Fault, Op
from tests.kafka.door import RawClient
from tests.kafka.serving import Serving, serving

pytestmark = pytest.mark.skipif(not is_available(), reason="the C kernel was not built")

TIME_MS = 1_767_225_600_000
PARTITIONS = 3


def batch(*values: bytes, producer: int = -1, sequence: int = -1) -> bytes:
    records = [Record(number, TIME_MS, None, value) for number, value in enumerate(values)]
    epoch = 0 if producer >= 0 else -1
    return build_batch(records, producer_id=producer, producer_epoch=epoch, base_sequence=sequence)


BATCH = batch(b"value")


def produce(
    records: bytes, partition: int = 0, acks: int = -1, topic: str = "orders", topic_id: bytes = b""
) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=records)
    named = TopicProduceData(name=topic, partition_data=[data])
    if topic_id:
        named.topic_id = topic_id
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[named])


async def riding(running: Serving) -> RawClient:
    """A client that is in the lane by now, which knows all partitions."""
    client = await running.connect()
    for partition in range(PARTITIONS):
        before = running.listener.express_count
        async with asyncio.timeout(5):
            while running.listener.express_count == before:
                answer = await client.ask(produce(batch(b"first"), partition), 9)
                assert result(answer)[0] == 0
    return client


async def taken(running: Serving, count: int) -> None:
    """Returns when the lane has taken so many requests, from the start on."""
    async with asyncio.timeout(5):
        while running.listener.express_count < count:
            await asyncio.sleep(0.001)


def result(response: ProduceResponse) -> tuple[int, int]:
    answer = response.responses[0].partition_responses[0]
    return answer.error_code, answer.base_offset


# What any client might send, and what only few do.


class Script:
    """Random requests of one client, the same for the same seed."""

    def __init__(self, chance: Random, topic_id: bytes) -> None:
        self._chance = chance
        self._topic_id = topic_id
        self._version = chance.choice([3, 5, 7, 8, 9, 11, 12, 13])
        self._sequences = [0] * PARTITIONS
        self._producer = chance.choice([-1, 7, 8])
        self._count = 0

    def frame(self) -> bytes:
        self._count += 1
        kinds: list[tuple[int, Callable[[], bytes]]] = [
            (20, self._common),
            (1, self._broken),
            (1, self._twice),
            (1, lambda: self._request(ApiVersionsRequest(), 3)),
            (1, lambda: self._send(produce(batch(b"none"), 77))),
            (1, lambda: self._send(produce(batch(b"gone"), topic="nowhere"))),
            (1, lambda: self._send(produce(batch(b"far", producer=9, sequence=5), 1))),
            (1, lambda: self._send(produce(batch(bytes(40_000))))),
            (1, lambda: self._send(produce(batch(b"odd"), acks=7))),
        ]
        weights = [weight for weight, _ in kinds]
        return self._chance.choices([make for _, make in kinds], weights)[0]()

    def _common(self) -> bytes:
        partition = self._chance.randrange(PARTITIONS)
        return self._send(produce(self._batch(partition), partition, self._chance.choice([-1, 1])))

    def _batch(self, partition: int) -> bytes:
        count = self._chance.choice([1, 1, 1, 4])
        values = [bytes(self._chance.randrange(300)) for _ in range(count)]
        if self._producer < 0:
            return batch(*values)
        # A producer of its own for every client, so that they do not fence one another.
        sequence = self._sequences[partition]
        self._sequences[partition] += count
        return batch(*values, producer=self._producer, sequence=sequence)

    def _twice(self) -> bytes:
        partition = self._chance.randrange(PARTITIONS)
        return self._send(produce(self._batch(partition), partition)) * 2

    def _broken(self) -> bytes:
        """A batch with one byte changed: a checksum, a bit of its attributes, a count."""
        changed = bytearray(batch(b"broken"))
        changed[self._chance.randrange(61)] ^= 1 << self._chance.randrange(8)
        return self._send(produce(bytes(changed)))

    def _send(self, request: ProduceRequest) -> bytes:
        if self._version >= 13 and request.topic_data[0].name == "orders":
            request.topic_data[0].topic_id = self._topic_id
        return self._request(request, self._version)

    def _request(self, request: ProduceRequest | ApiVersionsRequest, version: int) -> bytes:
        return b"".join(request_frame(request, version, self._count, "test"))


async def conversation(seed: int, *, has_express: bool) -> tuple[list[bytes], list[bytes], int]:
    """All replies to three clients, one after the other, and what the log holds in the end."""
    chance = Random(seed)
    replies: list[bytes] = []
    async with serving(has_express=has_express) as running:
        created = await running.create("orders", PARTITIONS)
        for _ in range(3):
            client = await running.connect()
            script = Script(chance, created.topic_id)
            for _ in range(12):
                sent = b"".join(script.frame() for _ in range(chance.choice([1, 1, 2, 5])))
                wanted = _count(sent)
                while sent:
                    size = chance.choice([len(sent), len(sent), 7, 100, 400])
                    client.writer.write(sent[:size])
                    sent = sent[size:]
                    if size < len(sent):
                        await asyncio.sleep(0.001)
                for _ in range(wanted):
                    length = await client.reader.readexactly(4)
                    replies.append(await client.reader.readexactly(int.from_bytes(length)))
        topic = running.broker.topics.by_name("orders")
        assert topic is not None
        logs = []
        for index in range(PARTITIONS):
            log = running.broker.partition(topic, index)
            logs.append(bytes(log.read(0, 1 << 30)) if log.high_watermark else b"")
        return replies, logs, running.listener.express_count


def _count(frames: bytes) -> int:
    count = position = 0
    while position < len(frames):
        (length,) = struct.unpack_from(">i", frames, position)
        position += 4 + length
        count += 1
    return count


async def test_replies_and_logs_are_the_same_with_and_without_it() -> None:
    base = Random().randrange(1 << 30)
    taken = 0
    for seed in range(base, base + 12):
        with_it, ordinary = [
            await conversation(seed, has_express=has_express) for has_express in (True, False)
        ]
        # Topic ids and the cluster's are drawn from one seed: even those are equal.
        assert with_it[0] == ordinary[0], f"replies differ: seed {seed}"
        assert with_it[1] == ordinary[1], f"logs differ: seed {seed}"
        assert ordinary[2] == 0
        taken += with_it[2]
    assert taken > 100


async def test_what_comes_together_is_answered_together_each_in_its_order() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        clients = [await riding(running) for _ in range(8)]
        before = running.listener.express_count
        running.syncer.hold()
        for number, client in enumerate(clients):
            for turn in range(5):
                value = b"%d-%d" % (number, turn)
                client.send(produce(batch(value), turn % PARTITIONS), 9, correlation_id=turn)
        await taken(running, before + 40)
        assert not any(client.reader._buffer for client in clients)  # type: ignore[attr-defined]
        running.syncer.let_go()
        for client in clients:
            found = [await client.receive(produce(b""), 9) for _ in range(5)]
            assert [number for number, _ in found] == [0, 1, 2, 3, 4]
            assert all(result(answer)[0] == 0 for _, answer in found)


async def test_no_reply_leaves_before_the_records_are_durable() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        client = await riding(running)
        count = running.listener.express_count
        running.syncer.hold()
        client.send(produce(batch(b"kept")), 9)
        await taken(running, count + 1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.reader.read(1), 0.05)
        running.syncer.let_go()
        _, answer = await client.receive(produce(b""), 9)
        code, offset = result(answer)
        assert code == 0
        await running.cut_power()
        topic = running.broker.topics.by_name("orders")
        assert topic is not None
        assert running.broker.partition(topic, 0).high_watermark == offset + 1


async def test_acks_of_one_do_not_wait_for_the_disk() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        client = await riding(running)
        running.syncer.hold()
        client.send(produce(batch(b"soon"), acks=1), 9, correlation_id=1)
        client.send(produce(batch(b"safe"), acks=-1), 9, correlation_id=2)
        client.send(produce(batch(b"next"), acks=1), 9, correlation_id=3)
        assert (await client.receive(produce(b""), 9))[0] == 1
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.reader.read(1), 0.05)
        running.syncer.let_go()
        assert (await client.receive(produce(b""), 9))[0] == 2
        assert (await client.receive(produce(b""), 9))[0] == 3


async def test_other_requests_wait_for_those_in_the_lane_and_find_the_way_back() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        client = await riding(running)
        running.syncer.hold()
        client.send(produce(batch(b"one")), 9, correlation_id=1)
        client.send(MetadataRequest(topics=[]), 9, correlation_id=2)
        client.send(produce(batch(b"two")), 9, correlation_id=3)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.reader.read(1), 0.05)
        running.syncer.let_go()
        assert (await client.receive(produce(b""), 9))[0] == 1
        assert (await client.receive(MetadataRequest(topics=[]), 9))[0] == 2
        assert (await client.receive(produce(b""), 9))[0] == 3
        before = running.listener.express_count
        for _ in range(3):
            await client.ask(produce(batch(b"again")), 9)
        assert running.listener.express_count > before


@pytest.mark.parametrize("op", [Op.WRITE, Op.SYNC])
async def test_what_the_disk_refuses_is_refused_to_everyone(op: Op) -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        clients = [await riding(running) for _ in range(3)]
        running.disk.inject(Fault(Effect.EIO, ops=frozenset({op}), times=None))
        for client in clients:
            client.send(produce(batch(b"lost")), 9)
        codes = [result((await client.receive(produce(b""), 9))[1])[0] for client in clients]
        assert set(codes) == {ErrorCode.KAFKA_STORAGE_ERROR}
        running.disk.clear_faults()
        for client in clients:
            answer = await client.ask(produce(batch(b"kept")), 9)
            assert result(answer)[0] == 0


@pytest.mark.parametrize("version", [9, 13])
async def test_a_topic_made_anew_is_not_taken_for_the_old_one(version: int) -> None:
    async with serving() as running:
        created = await running.create("orders")
        client = await riding_on(running, version, created.topic_id)
        await running.ask(DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000), 5)
        anew = await running.create("orders")
        request = produce(batch(b"later"), topic_id=created.topic_id)
        answer = await client.ask(request, version)
        if version < 13:
            assert result(answer) == (0, 0)
        else:
            assert result(answer)[0] == ErrorCode.UNKNOWN_TOPIC_ID
            answer = await client.ask(produce(batch(b"new"), topic_id=anew.topic_id), version)
            assert result(answer) == (0, 0)


async def riding_on(running: Serving, version: int, topic_id: bytes) -> RawClient:
    client = await running.connect()
    for _ in range(3):
        await client.ask(produce(batch(b"first"), topic_id=topic_id), version)
    assert running.listener.express_count
    return client


async def test_a_client_that_leaves_without_its_reply_harms_nobody() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        stays, goes = await riding(running), await riding(running)
        running.syncer.hold()
        before = running.listener.express_count
        for client in (goes, stays):
            client.send(produce(batch(b"kept")), 9, correlation_id=4)
        await taken(running, before + 2)
        goes.writer.transport.abort()
        newcomer = await running.connect()
        await asyncio.sleep(0.02)
        running.syncer.let_go()
        assert (await stays.receive(produce(b""), 9))[0] == 4
        # Whoever has the socket's number now is told nothing that was meant for another.
        assert (await newcomer.ask(MetadataRequest(topics=[]), 9)).brokers


async def test_a_client_that_reads_nothing_is_let_out_of_the_lane() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        deaf, other = await riding(running), await riding(running)
        deaf.writer.transport.set_write_buffer_limits(high=1 << 24)
        deaf.reader._limit = 1  # type: ignore[attr-defined]  # it pauses at once
        frame = b"".join(request_frame(produce(batch(b"x"), acks=1), 9, 1, "test"))
        for _ in range(300):
            deaf.writer.write(frame * 300)
            answer = await other.ask(produce(batch(b"y")), 9)
            assert result(answer)[0] == 0
        deaf.writer.transport.abort()


def narrow_other_end(connected: socket.socket, size_bytes: int) -> None:
    """Gives the other end of a connection within this process little room for what it sends."""
    for descriptor in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                with socket.socket(fileno=os.dup(descriptor)) as found:
                    if found.getpeername() == connected.getsockname():
                        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size_bytes)
                        return
    raise AssertionError("the other end is not in this process")


async def test_a_client_that_reads_late_gets_every_reply_in_order() -> None:
    count = 4_000
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        await riding(running)
        address = running.listener.address
        narrow = socket.create_connection((address.host, address.port))
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        reader, writer = await asyncio.open_connection(sock=narrow, limit=1)
        client = RawClient(reader, writer)
        await client.ask(produce(batch(b"first")), 9)
        narrow_other_end(narrow, 4_096)
        before = running.listener.express_count

        for number in range(count):
            client.send(produce(BATCH, acks=1), 9, correlation_id=number)
            if number % 100 == 0:
                await asyncio.sleep(0)
        found = [(await client.receive(produce(b""), 9))[0] for _ in range(count)]

        assert found == list(range(count))
        assert running.listener.express_count > before
        await client.close()


async def test_the_door_closes_on_riders_too() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        client = await riding(running)
        client.send(produce(batch(b"last")), 9, correlation_id=9)
        await asyncio.sleep(0.01)
        await running.listener.close()
        assert (await client.receive(produce(b""), 9))[0] == 9
        assert await client.is_cut_off()


async def test_a_door_that_is_slammed_leaves_nothing_behind() -> None:
    async with serving() as running:
        await running.create("orders", PARTITIONS)
        clients = [await riding(running) for _ in range(3)]
        running.syncer.hold()
        before = running.listener.express_count
        for client in clients:
            client.send(produce(batch(b"last")), 9)
        await taken(running, before + 3)
        running.listener.drop_connections()
        await running.listener.close()
        running.syncer.let_go()
        assert [await client.is_cut_off() for client in clients] == [True] * 3


async def test_a_topic_made_anew_many_times_fills_the_lane_and_opens_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(express, "PLACES_MAX", 3)
    async with serving() as running:
        client = await running.connect()
        for number in range(8):
            await running.create("orders")
            before = running.listener.express_count
            for _ in range(3):
                assert result(await client.ask(produce(batch(b"new")), 9))[0] == 0
            assert running.listener.express_count > before, f"not in the lane: {number}"
            await running.ask(DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000), 5)
