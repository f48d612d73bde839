"""The door: order, overlap, limits, hostile bytes, and a graceful end."""

import asyncio
from typing import Any

import pytest

from riverlog.config import DoorLimits
from riverlog.kafka.apis import Context
from riverlog.kafka.later import Later
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.metadata import MetadataRequest, MetadataResponse
from riverlog.protocol.messages.produce import ProduceRequest, ProduceResponse
from tests.kafka.door import RawClient, listening

PRODUCE = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[])
METADATA = MetadataRequest(topics=None)
VERSIONS = ApiVersionsRequest()


class Held:
    """A handler whose answers are given when the test says so."""

    def __init__(self) -> None:
        self.answers: list[Later] = []

    def __call__(self, _request: Any, _context: Context) -> Later:
        self.answers.append(Later())
        return self.answers[-1]

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.answers) < count:
                await asyncio.sleep(0.001)


async def settle() -> None:
    """Long enough for anything that could arrive to arrive."""
    await asyncio.sleep(0.05)


async def test_replies_keep_the_order_of_requests_however_they_are_answered() -> None:
    produce = Held()
    async with listening(produce=produce) as listener:
        client = await RawClient.connect(listener)
        for number in range(3):
            client.send(PRODUCE, 9, correlation_id=number)
        await produce.wait_for(3)
        for number in (2, 0, 1):
            produce.answers[number].finish(ProduceResponse(responses=[]))
        ids = [(await client.receive(PRODUCE, 9))[0] for _ in range(3)]
        assert ids == [0, 1, 2]
        await client.close()


async def test_other_requests_wait_for_those_before_them() -> None:
    produce = Held()
    seen: list[str] = []

    def metadata(_request: Any, _context: Context) -> MetadataResponse:
        seen.append("metadata")
        return MetadataResponse(brokers=[], topics=[])

    async with listening(produce=produce, metadata=metadata) as listener:
        client = await RawClient.connect(listener)
        client.send(PRODUCE, 9, correlation_id=1)
        client.send(METADATA, 9, correlation_id=2)
        client.send(PRODUCE, 9, correlation_id=3)
        await produce.wait_for(1)
        await settle()
        assert seen == []
        assert len(produce.answers) == 1
        produce.answers[0].finish(ProduceResponse(responses=[]))
        assert (await client.receive(PRODUCE, 9))[0] == 1
        assert (await client.receive(METADATA, 9))[0] == 2
        await produce.wait_for(2)
        produce.answers[1].finish(ProduceResponse(responses=[]))
        assert (await client.receive(PRODUCE, 9))[0] == 3
        await client.close()


async def test_an_answer_of_none_sends_nothing_and_holds_nothing_up() -> None:
    async with listening(produce=lambda _request, _context: None) as listener:
        client = await RawClient.connect(listener)
        client.send(PRODUCE, 9)
        client.send(METADATA, 9, correlation_id=7)
        assert (await client.receive(METADATA, 9))[0] == 7
        await client.close()


async def test_an_unknown_version_of_api_versions_is_answered_with_our_ranges() -> None:
    async with listening() as listener:
        client = await RawClient.connect(listener)
        frame = b"\x00\x12\x00\x63\x00\x00\x00\x05\xff\xff"
        client.writer.write(len(frame).to_bytes(4, "big") + frame)
        correlation_id, response = await client.receive(VERSIONS, 0)
        assert correlation_id == 5
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert (18, 0, 4) in [(k.api_key, k.min_version, k.max_version) for k in response.api_keys]
        assert await client.ask(VERSIONS, 3)
        await client.close()


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b"\x7f\xff\x00\x00\x00\x00\x00\x01\xff\xff", id="an unknown API"),
        pytest.param(b"\x00\x03\x00\x63\x00\x00\x00\x01\xff\xff", id="an unknown version"),
        pytest.param(b"\x00\x03\x00\x09\x00", id="a cut header"),
        pytest.param(b"\x00\x03\x00\x09\x00\x00\x00\x01\xff\xff", id="no body"),
        pytest.param(
            b"\x00\x03\x00\x01\x00\x00\x00\x01\xff\xff\x7f\xff\xff\xff", id="a huge count"
        ),
    ],
)
async def test_what_cannot_be_understood_ends_the_connection(frame: bytes) -> None:
    async with listening() as listener:
        client = await RawClient.connect(listener)
        other = await RawClient.connect(listener)
        client.writer.write(len(frame).to_bytes(4, "big") + frame)
        assert await client.is_cut_off()
        assert await other.ask(METADATA, 9)
        await client.close()
        await other.close()


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"\x00\x00\x00\x00", id="an empty frame"),
        pytest.param(b"\xff\xff\xff\xff", id="a negative length"),
        pytest.param(b"\x7f\xff\xff\xff", id="two GiB"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="HTTP"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
    ],
)
async def test_a_frame_out_of_bounds_ends_the_connection_at_once(start: bytes) -> None:
    async with listening() as listener:
        client = await RawClient.connect(listener)
        client.writer.write(start)
        assert await client.is_cut_off()
        await client.close()


async def test_only_produce_requests_may_be_large() -> None:
    limits = DoorLimits(other_frame_bytes_max=1_000)
    async with listening(limits, produce=lambda _request, _context: None) as listener:
        client = await RawClient.connect(listener)
        padded = ProduceRequest(transactional_id="x" * 2_000, acks=0, timeout_ms=1, topic_data=[])
        client.send(padded, 9)
        assert await client.ask(METADATA, 9)
        client.send(ApiVersionsRequest(client_software_name="x" * 2_000), 3)
        assert await client.is_cut_off()
        await client.close()


async def test_a_handler_that_fails_costs_one_connection_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_request: Any, _context: Context) -> Any:
        raise ZeroDivisionError

    async with listening(metadata=broken) as listener:
        client = await RawClient.connect(listener)
        other = await RawClient.connect(listener)
        client.send(METADATA, 9)
        assert await client.is_cut_off()
        assert await other.ask(VERSIONS, 3)
        assert "request failed" in caplog.text
        await client.close()
        await other.close()


async def test_a_connection_too_many_is_closed_and_room_comes_back() -> None:
    async with listening(DoorLimits(connections_max=1)) as listener:
        first = await RawClient.connect(listener)
        assert await first.ask(VERSIONS, 3)
        second = await RawClient.connect(listener)
        assert await second.is_cut_off()
        await first.close()
        await settle()
        third = await RawClient.connect(listener)
        assert await third.ask(VERSIONS, 3)
        await second.close()
        await third.close()


async def test_a_client_that_reads_nothing_is_not_read_from() -> None:
    answered = 0
    large = MetadataResponse(brokers=[], topics=[], cluster_id="x" * 30_000)

    def metadata(_request: Any, _context: Context) -> MetadataResponse:
        nonlocal answered
        answered += 1
        return large

    async with listening(
        DoorLimits(unread_reply_bytes_max=64 * 1024), metadata=metadata
    ) as listener:
        client = await RawClient.connect(listener)
        for number in range(5_000):
            client.send(METADATA, 9, correlation_id=number)
        stopped_at = -1
        async with asyncio.timeout(10):
            while answered != stopped_at:
                stopped_at = answered
                await settle()
        assert stopped_at < 1_000  # Of 150 MB of replies, only what sockets and limits hold.
        for number in range(5_000):
            assert (await client.receive(METADATA, 9))[0] == number
        assert answered == 5_000
        await client.close()


async def test_while_too_many_bytes_are_in_flight_nobody_is_read_from() -> None:
    produce = Held()
    frame_bytes = 1_000
    async with listening(DoorLimits(bytes_in_flight_max=frame_bytes), produce=produce) as listener:
        first = await RawClient.connect(listener)
        second = await RawClient.connect(listener)
        padded = ProduceRequest(
            transactional_id="x" * frame_bytes, acks=-1, timeout_ms=1, topic_data=[]
        )
        first.send(padded, 9)
        await produce.wait_for(1)
        first.send(padded, 9)
        second.send(padded, 9)
        await settle()
        # The second client's reading had not been stopped yet; the first one's had.
        assert len(produce.answers) == 2
        for answer in produce.answers:
            answer.finish(ProduceResponse(responses=[]))
        await produce.wait_for(3)
        produce.answers[2].finish(ProduceResponse(responses=[]))
        for client in (first, first, second):
            await client.receive(PRODUCE, 9)
        await first.close()
        await second.close()


async def test_unfinished_requests_beyond_the_bound_cost_the_connection_that_adds_to_them() -> None:
    async with listening(DoorLimits(bytes_held_max=10_000)) as listener:
        patient = await RawClient.connect(listener)
        patient.writer.write((20_000).to_bytes(4, "big") + bytes(5_000))
        await settle()
        greedy = await RawClient.connect(listener)
        greedy.writer.write((20_000).to_bytes(4, "big") + bytes(8_000))
        assert await greedy.is_cut_off()
        other = await RawClient.connect(listener)
        assert await other.ask(VERSIONS, 3)
        for client in (patient, greedy, other):
            await client.close()


async def test_closing_answers_what_was_asked_and_reads_nothing_more() -> None:
    produce = Held()
    async with listening(produce=produce) as listener:
        client = await RawClient.connect(listener)
        client.send(PRODUCE, 9, correlation_id=1)
        await produce.wait_for(1)
        closing = asyncio.create_task(listener.close())
        await settle()
        client.send(PRODUCE, 9, correlation_id=2)
        await settle()
        assert len(produce.answers) == 1
        produce.answers[0].finish(ProduceResponse(responses=[]))
        assert (await client.receive(PRODUCE, 9))[0] == 1
        assert await client.is_cut_off()
        await closing
        await client.close()


async def test_closing_does_not_wait_longer_than_its_limit() -> None:
    produce = Held()
    async with listening(DoorLimits(shutdown_ms_max=50), produce=produce) as listener:
        client = await RawClient.connect(listener)
        client.send(PRODUCE, 9)
        await produce.wait_for(1)
        await asyncio.wait_for(listener.close(), 5)
        assert await client.is_cut_off()
        await client.close()


async def test_ten_thousand_requests_in_one_write_are_all_answered() -> None:
    async with listening() as listener:
        client = await RawClient.connect(listener)
        for number in range(10_000):
            client.send(METADATA, 9, correlation_id=number)
        for number in range(10_000):
            assert (await client.receive(METADATA, 9))[0] == number
        await client.close()
