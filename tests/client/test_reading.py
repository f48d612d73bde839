"""Reading: where it begins, when it ends, and who is called."""

import asyncio
import threading
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

import riverlog
from riverlog import NewRecord
from riverlog.client.errors import InvalidArgument, OffsetOutOfRange, TimedOut, UnknownTopic
from riverlog.client.received import ReceivedRecord
from riverlog.client.sync_client import Client
from tests.broker_process import BrokerProcess

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def numbers(client: Client, topic: str) -> str:
    """A topic with 0 to 9 in partition 0, one for each minute after noon."""
    times_ms = [int((NOON + timedelta(minutes=n)).timestamp() * 1000) for n in range(10)]
    client.publish_batch(
        topic,
        [NewRecord(str(n), timestamp_ms=time, partition=0) for n, time in enumerate(times_ms)],
    ).results()
    return topic


def texts(records: object) -> str:
    assert hasattr(records, "__iter__")
    return "".join(record.text() for record in records)


def test_everything_there_is(client: Client, numbers: str) -> None:
    assert texts(client.subscribe(numbers, start="earliest", until="end")) == "0123456789"


def test_from_an_offset(client: Client, numbers: str) -> None:
    assert texts(client.subscribe(numbers, start=7, partitions=[0], until="end")) == "789"
    assert texts(client.subscribe(numbers, start={0: 8}, until="end")) == "89"


def test_the_last_few(client: Client, numbers: str) -> None:
    assert texts(client.subscribe(numbers, start=-3, until="end")) == "789"
    assert texts(client.subscribe(numbers, start=-30, until="end")) == "0123456789"


def test_from_a_time_until_a_time(client: Client, numbers: str) -> None:
    start, end = NOON + timedelta(minutes=3), NOON + timedelta(minutes=6)
    assert texts(client.subscribe(numbers, start=start, until=end)) == "345"
    assert (
        texts(client.subscribe(numbers, start=start, until=NOON + timedelta(days=1))) == "3456789"
    )
    assert texts(client.subscribe(numbers, start=NOON + timedelta(days=1), until="end")) == ""


def test_a_time_without_a_zone_is_refused(client: Client, numbers: str) -> None:
    with pytest.raises(InvalidArgument, match="zone"):
        client.subscribe(numbers, start=datetime(2026, 1, 31))  # noqa: DTZ001 - on purpose


def test_so_many_and_no_more(client: Client, numbers: str) -> None:
    assert texts(client.subscribe(numbers, start="earliest", count=4)) == "0123"
    assert texts(client.subscribe(numbers, start="earliest", count=0)) == ""


def test_after_silence_it_ends(client: Client, numbers: str) -> None:
    assert texts(client.subscribe(numbers, start=5, partitions=[0], timeout_ms=50)) == "56789"


def test_latest_means_from_the_moment_of_subscribing(client: Client, numbers: str) -> None:
    subscription = client.subscribe(numbers, count=1)
    client.publish(numbers, "new", partition=1)
    assert texts(subscription) == "new"


def test_new_records_reach_a_function_in_order(client: Client, topic: str) -> None:
    got: list[ReceivedRecord] = []
    enough = threading.Event()

    def take(record: ReceivedRecord) -> None:
        got.append(record)
        if len(got) == 100:
            enough.set()

    with client.subscribe(topic, on_record=take) as delivery:
        client.publish_batch(topic, [NewRecord(str(n), partition=1) for n in range(100)])
        assert enough.wait(10)
        with pytest.raises(TimedOut):
            delivery.wait(timeout_ms=1)
    assert [record.text() for record in got] == [str(n) for n in range(100)]
    delivery.wait(timeout_ms=1000)


def test_what_the_function_raises_ends_the_delivery(client: Client, numbers: str) -> None:
    def take(record: ReceivedRecord) -> None:
        raise KeyError(record.text())

    with (
        client.subscribe(numbers, start="earliest", on_record=take) as delivery,
        pytest.raises(KeyError, match="0"),
    ):
        delivery.wait(timeout_ms=10_000)


def test_an_unknown_topic_is_named(client: Client) -> None:
    with pytest.raises(UnknownTopic, match="no-such-topic"):
        client.subscribe("no-such-topic", start="earliest")


def test_an_offset_outside_of_the_log_is_an_error(client: Client, numbers: str) -> None:
    with pytest.raises(OffsetOutOfRange, match="at offset 999"):
        list(client.subscribe(numbers, start={0: 999}))


def test_publishing_does_not_wait_for_a_subscription(client: Client, topic: str) -> None:
    subscription = client.subscribe(topic, timeout_ms=10)
    list(subscription)
    waiting = client.subscribe(topic)
    start = datetime.now(UTC)
    for number in range(5):
        client.publish(topic, str(number))
    # One fetch alone may wait half a second in the broker.
    assert datetime.now(UTC) - start < timedelta(seconds=2)
    waiting.close()


def test_json_and_missing_values(client: Client, topic: str) -> None:
    client.publish(topic, '{"a": [1]}', partition=0)
    client.publish(topic, None, partition=0)
    first, second = client.subscribe(topic, start="earliest", count=2)
    assert first.json() == {"a": [1]}
    assert (second.json(), second.text(), second.key_text()) == (None, "", None)
    assert repr(first) == f"<{topic}/0@0 key=None value=b'{{\"a\": [1]}}'>"


async def test_asyncio_publishes_and_reads(shared_broker: BrokerProcess) -> None:
    async with riverlog.connect_async(shared_broker.bootstrap) as client:
        await client.topics.create("by-asyncio", partitions=2)
        subscription = await client.subscribe("by-asyncio", count=4)
        went = await client.publish("by-asyncio", "one", key="k")
        publishing = await client.publish_batch("by-asyncio", ["two", "three"])
        (four,) = (await client.publish_batch("by-asyncio", ["four"])).futures()
        assert len(await publishing) == 2
        assert (await four).topic == went.topic
        assert {record.text() async for record in subscription} == {"one", "two", "three", "four"}


async def test_asyncio_calls_functions_of_both_kinds(shared_broker: BrokerProcess) -> None:
    got: list[str] = []
    async with riverlog.connect_async(shared_broker.bootstrap) as client:
        await client.publish("called", "v", partition=0)

        async def take_async(record: ReceivedRecord) -> None:
            await asyncio.sleep(0)
            got.append("async " + record.text())

        def take(record: ReceivedRecord) -> None:
            got.append("sync " + record.text())

        for function in (take_async, take):
            await client.subscribe("called", start="earliest", count=1, on_record=function).wait()
    assert got == ["async v", "sync v"]


@pytest.mark.parametrize(("start", "is_refused"), [("earliest", False), (0, True)])
def test_what_was_the_earliest_may_be_gone_when_it_is_read(
    start: Literal["earliest"] | int, is_refused: bool
) -> None:
    with riverlog.Broker(topics={"t": 1}) as broker, broker.connect() as client:
        for n in range(3):
            client.publish("t", str(n))
        broker.faults.fail("Fetch", "OFFSET_OUT_OF_RANGE")
        reading = client.subscribe("t", start=start, count=3)

        with pytest.raises(OffsetOutOfRange) if is_refused else nullcontext():
            assert texts(reading) == "012"
