"""Brokers that restart, die, move, err or fall silent: nothing is lost, twice, or waited for."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import riverlog
from riverlog import NewRecord
from riverlog.client.errors import (
    ClientError,
    InvalidArgument,
    TimedOut,
    Unconfirmed,
    Unreachable,
)
from riverlog.client.settings import ClientSettings
from riverlog.kafka.apis import Context
from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.fetch import FetchRequest
from riverlog.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.broker_process import BrokerProcess
from tests.kafka.door import listening

IMPATIENT = ClientSettings(timeout_ms=400, request_timeout_ms=150, connect_timeout_ms=150)


@pytest.mark.parametrize("way", ["kill", "terminate"])
def test_what_is_published_while_the_broker_restarts_is_there_once_and_in_order(
    broker: BrokerProcess, way: str
) -> None:
    values = [b"%d" % number for number in range(6000)]
    with riverlog.connect(broker.bootstrap) as client:
        client.topics.create("t", partitions=1)
        got: list[bytes | None] = []
        reading = client.subscribe(
            "t", start="earliest", count=len(values), on_record=lambda r: got.append(r.value)
        )
        publishing = []

        def restart() -> None:
            for _ in range(2):
                time.sleep(0.15)
                getattr(broker, way)()
                broker.start()

        restarting = threading.Thread(target=restart)
        restarting.start()
        for start in range(0, len(values), 20):
            publishing.append(client.publish_batch("t", values[start : start + 20]))
            time.sleep(0.002)
        restarting.join()
        offsets = [result.offset for each in publishing for result in each.results()]
        reading.wait(timeout_ms=20_000)

    assert offsets == list(range(len(values)))
    assert got == values


def test_a_client_may_come_before_its_broker(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    broker = BrokerProcess(tmp_path)
    broker.port = port
    threading.Timer(0.3, broker.start).start()
    with riverlog.connect(f"127.0.0.1:{port}") as client:
        assert client.publish("t", "early").offset == 0
    broker.end()


def test_another_address_is_tried_when_the_first_is_dead(shared_broker: BrokerProcess) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dead = f"127.0.0.1:{free.getsockname()[1]}"
        with riverlog.connect(f"{dead}, {shared_broker.bootstrap}") as client:
            client.publish("another-address", "v")


@contextmanager
def silent_socket() -> Iterator[str]:
    """Accepts connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_silent_socket_is_given_up_in_time() -> None:
    with silent_socket() as address, riverlog.connect(address, settings=IMPATIENT) as client:
        start = time.monotonic()
        with pytest.raises(Unreachable, match="does not answer"):
            client.publish("t", "v")
        with pytest.raises(Unreachable):
            client.subscribe("t")
        with pytest.raises(Unreachable):
            client.topics.list(timeout_ms=50)
        assert time.monotonic() - start < 3


def test_nobody_there_is_said_in_time() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with (
            riverlog.connect(address, settings=IMPATIENT) as client,
            pytest.raises(Unreachable, match=r"127\.0\.0\.1:\d+: connection refused"),
        ):
            client.publish("t", "v")


def test_what_speaks_another_protocol_is_given_up() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def greet() -> None:
            for _ in range(2):
                other, _ = listener.accept()
                with other:
                    other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with (
            riverlog.connect(address, settings=IMPATIENT) as client,
            pytest.raises(Unreachable),
        ):
            client.publish("t", "v")


@pytest.mark.parametrize("address", ["", "host", "host:port", "a:1,,b:2", "::1:9092"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidArgument):
        riverlog.connect(address)


def refusing(code: ErrorCode, times: int) -> tuple[list[int], object]:
    """A Produce handler that refuses so often and then says yes; and the sequences it saw."""
    seen: list[int] = []

    def handle(request: ProduceRequest, context: Context) -> ProduceResponse:
        seen.append(len(seen))
        refused = len(seen) <= times
        answers = [
            TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    PartitionProduceResponse(
                        index=data.index,
                        error_code=code if refused else 0,
                        base_offset=-1 if refused else 7,
                    )
                    for data in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
        return ProduceResponse(responses=answers)

    return seen, handle


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
    ],
)
async def test_what_passes_is_tried_again(code: ErrorCode) -> None:
    seen, produce = refusing(code, times=2)
    async with (
        listening(produce=produce) as door,  # type: ignore[arg-type]  # a handler
        riverlog.connect_async(str(door.address)) as client,
    ):
        assert (await client.publish("t", "v", partition=0)).offset == 7
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "NotAuthorized"),
        (ErrorCode.INVALID_RECORD, "InvalidArgument"),
        (ErrorCode.MESSAGE_TOO_LARGE, "TooLarge"),
        (ErrorCode.INVALID_REQUIRED_ACKS, "Refused"),
    ],
)
async def test_what_does_not_pass_is_told_at_once(code: ErrorCode, kind: str) -> None:
    seen, produce = refusing(code, times=10)
    async with (
        listening(produce=produce) as door,  # type: ignore[arg-type]  # a handler
        riverlog.connect_async(str(door.address)) as client,
    ):
        with pytest.raises(ClientError) as told:
            await client.publish("t", "v", partition=0)
    assert type(told.value).__name__ == kind
    assert len(seen) == 1


async def test_a_leader_that_never_comes_back_is_a_timeout_and_nothing_was_written() -> None:
    _, produce = refusing(ErrorCode.NOT_LEADER_OR_FOLLOWER, times=10**6)
    async with (
        listening(produce=produce) as door,  # type: ignore[arg-type]  # a handler
        riverlog.connect_async(str(door.address), settings=IMPATIENT) as client,
    ):
        with pytest.raises(ClientError) as told:
            await client.publish("t", "v", partition=0)
    assert not isinstance(told.value, Unconfirmed)


async def test_an_answer_that_never_comes_leaves_it_open_whether_it_was_written() -> None:
    async def never(request: ProduceRequest, context: Context) -> None:
        await asyncio.sleep(60)

    async with (
        listening(produce=never) as door,
        riverlog.connect_async(str(door.address), settings=IMPATIENT) as client,
    ):
        start = time.monotonic()
        with pytest.raises(Unconfirmed, match="may or may not"):
            await client.publish("t", "v", partition=0)
        assert time.monotonic() - start < 3


async def test_a_subscription_gives_up_only_when_it_was_told_to() -> None:
    async def never(request: FetchRequest, context: Context) -> None:
        await asyncio.sleep(60)

    settings = IMPATIENT._replace(fetch_wait_ms=10)
    async with (
        listening(fetch=never) as door,
        riverlog.connect_async(str(door.address), settings=settings) as client,
    ):
        await client.publish("t", "v", partition=0)
        async with client.subscribe("t", start="earliest", timeout_ms=600) as patient:
            assert [record async for record in patient] == []
        async with client.subscribe("t", start="earliest", outage_ms_max=200) as impatient:
            with pytest.raises(Unreachable):
                await anext(impatient)


async def test_no_room_is_a_timeout() -> None:
    async def never(request: ProduceRequest, context: Context) -> None:
        await asyncio.sleep(60)

    narrow = IMPATIENT._replace(buffer_bytes_max=1000, request_timeout_ms=5000)
    async with (
        listening(produce=never) as door,
        riverlog.connect_async(str(door.address), settings=narrow) as client,
    ):
        with pytest.raises(TimedOut, match="keep up"):
            await client.publish_batch("t", [NewRecord("x" * 10, partition=0)] * 2000)
