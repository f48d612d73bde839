"""Fetches that wait: answered with the sync they wait for, neither before it nor long after."""

import asyncio
import select
from typing import Any

import pytest

from riverlog.kafka.apis import Context
from riverlog.kafka.later import Parked
from riverlog.protocol.messages.api_versions import ApiVersionsRequest
from riverlog.protocol.messages.fetch import FetchRequest, FetchResponse
from riverlog.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.kafka.door import RawClient, listening
from tests.kafka.serving import Serving, batch_of, serving
from tests.kafka.test_fetch import answers, asking, by_name, first_offset, part

VERSION = 11


def has_come(client: RawClient) -> bool:
    """Whether its socket has anything to read, as the system sees it: the loop has not run."""
    descriptor = client.writer.get_extra_info("socket").fileno()
    return bool(select.select([descriptor], [], [], 0)[0])


async def waiting_consumer(running: Serving, request: FetchRequest) -> RawClient:
    consumer = await running.connect()
    consumer.send(request, VERSION)
    partition = running.broker.partition(running.broker.topic("orders"), 0)
    async with asyncio.timeout(5):
        while not partition.waiting.is_anybody:
            await asyncio.sleep(0.001)
    return consumer


async def held_produce(running: Serving) -> asyncio.Task[int]:
    """A producer whose batch is written, and not synced."""
    running.syncer.hold()
    producing = asyncio.ensure_future(running.produce("orders", 1))
    async with asyncio.timeout(5):
        while not running.syncer.held_count:
            await asyncio.sleep(0.001)
    return producing


@pytest.mark.parametrize("has_express", [False, True])
async def test_the_answer_leaves_with_the_sync_and_not_before(has_express: bool) -> None:
    async with serving(has_express=has_express) as running:
        await running.create("orders")
        await running.produce("orders", 1)
        await running.produce("orders", 1)
        request = asking(by_name("orders", part(0, offset=2)), wait_ms=10_000)
        consumer = await waiting_consumer(running, request)
        producing = await held_produce(running)
        await asyncio.sleep(0.05)
        assert not has_come(consumer)

        running.syncer.let_go()

        assert has_come(consumer)
        _, response = await asyncio.wait_for(consumer.receive(request, VERSION), 5)
        await asyncio.wait_for(producing, 5)
    (answer,) = answers(response)
    assert (first_offset(answer), answer.high_watermark) == (2, 3)


async def test_what_became_durable_together_is_answered_together() -> None:
    async with serving() as running:
        await running.create("orders", partitions=2)
        request = asking(by_name("orders", part(0), part(1)), wait_ms=10_000)
        consumer = await waiting_consumer(running, request)
        data = [PartitionProduceData(index=index, records=batch_of(1)) for index in (0, 1)]
        topic = TopicProduceData(name="orders", partition_data=data)
        await running.ask(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]), 9)
        _, response = await asyncio.wait_for(consumer.receive(request, VERSION), 5)
    assert [bool(answer.records) for answer in answers(response)] == [True, True]


async def test_who_goes_away_while_waiting_is_not_woken_any_more() -> None:
    async with serving() as running:
        await running.create("orders")
        request = asking(by_name("orders", part(0)), wait_ms=2**31 - 1)
        consumer = await waiting_consumer(running, request)
        partition = running.broker.partition(running.broker.topic("orders"), 0)
        consumer.writer.transport.abort()
        # A connection that waits is not read from, so that it is gone shows in the next sweep.
        running.listener.drop_connections()
        async with asyncio.timeout(5):
            while partition.waiting.is_anybody:
                await asyncio.sleep(0.001)


async def test_a_wait_that_fails_costs_one_connection_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    parked: list[Parked] = []
    left: list[str] = []

    def look() -> Any:
        raise ZeroDivisionError

    def handle(_request: Any, _context: Context) -> Parked:
        parked.append(Parked(look, lambda: left.append("left")))
        return parked[-1]

    async with listening(fetch=handle) as listener:
        client = await RawClient.connect(listener)
        other = await RawClient.connect(listener)
        client.send(asking(), VERSION)
        async with asyncio.timeout(5):
            while not parked:
                await asyncio.sleep(0.001)
        parked[0].wake()
        assert await client.is_cut_off()
        assert left == ["left"]
        assert "request failed" in caplog.text
        assert await other.ask(ApiVersionsRequest(), 3)
        parked[0].wake()
        await client.close()
        await other.close()


async def test_one_that_is_woken_in_vain_waits_on() -> None:
    found: list[FetchResponse] = []
    looks = 0

    def look() -> FetchResponse | None:
        nonlocal looks
        looks += 1
        return found[0] if found else None

    parked = Parked(look, lambda: None)
    async with listening(fetch=lambda _request, _context: parked) as listener:
        client = await RawClient.connect(listener)
        client.send(asking(), VERSION, correlation_id=7)
        client.send(asking(), VERSION, correlation_id=8)
        while not looks:
            parked.wake()
            await asyncio.sleep(0.001)
        assert not has_come(client)
        found.append(FetchResponse(session_id=5, responses=[]))
        parked.wake()
        correlation_id, response = await asyncio.wait_for(client.receive(asking(), VERSION), 5)
        assert (correlation_id, response.session_id) == (7, 5)
        await client.close()
