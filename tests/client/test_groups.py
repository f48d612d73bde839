"""Reading as a member of a group: shared without gaps, resumed where it was left, taken over."""

import threading
import time
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer
from hypothesis import given
from hypothesis import strategies as st

import riverlog
from riverlog.client.errors import InvalidArgument, UnknownTopic
from riverlog.client.membership import (
    Member,
    UnreadableMember,
    read_assignment,
    read_topics,
    share_by_range,
    write_assignment,
    write_topics,
)
from riverlog.client.received import ReceivedRecord
from riverlog.client.source import Rebalance
from riverlog.client.sync_client import Client
from riverlog.client.sync_subscription import Delivery
from tests.broker_process import BrokerProcess


def until(is_so: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def publish(client: Client, topic: str, start: int, end: int) -> None:
    client.publish_batch(topic, [(str(n), str(n)) for n in range(start, end)]).results()


def numbers(start: int, end: int) -> list[str]:
    return sorted(map(str, range(start, end)))


def test_a_group_goes_on_where_it_left_off(client: Client, topic: str) -> None:
    publish(client, topic, 0, 30)
    first = client.subscribe(topic, group=topic, start="earliest", count=10)
    seen = [record.text() for record in first]

    second = client.subscribe(topic, group=topic, start="earliest", count=20)
    seen += [record.text() for record in second]

    assert sorted(seen) == numbers(0, 30)


def test_a_record_counts_as_done_only_when_the_next_is_asked_for(
    client: Client, topic: str
) -> None:
    publish(client, topic, 0, 3)
    with client.subscribe(topic, group=topic, start="earliest") as first:
        unfinished = next(first)
    with client.subscribe(topic, group=topic, start="earliest", count=3) as second:
        assert unfinished in list(second)


def test_members_share_a_topic_and_take_over_from_each_other(
    shared_broker: BrokerProcess, client: Client, topic: str
) -> None:
    got: dict[str, list[str]] = {"a": [], "b": []}
    changes: dict[str, list[Rebalance]] = {"a": [], "b": []}

    def reader(who: str, of: Client) -> Delivery:
        return of.subscribe(
            topic,
            group=topic,
            start="earliest",
            on_record=lambda record: got[who].append(record.text()),
            on_rebalance=changes[who].append,
        )

    with riverlog.connect(shared_broker.bootstrap) as other:
        publish(client, topic, 0, 50)
        first = reader("a", client)
        until(lambda: len(got["a"]) == 50)
        reader("b", other)
        until(lambda: len(changes["b"]) == 1 and len(changes["a"]) == 3)
        publish(client, topic, 50, 100)
        until(lambda: len(got["a"]) + len(got["b"]) == 100)
        first.close()
        publish(client, topic, 100, 150)
        until(lambda: len(got["a"]) + len(got["b"]) == 150)

    assert sorted(got["a"] + got["b"]) == numbers(0, 150)
    assert got["b"], "the second member read nothing"
    assert changes["a"][0] == Rebalance(topic, assigned=(0, 1, 2))
    assert changes["a"][1] == Rebalance(topic, revoked=(0, 1, 2))
    shares = (*changes["a"][2].assigned, *changes["b"][0].assigned)
    assert sorted(shares) == [0, 1, 2]
    assert changes["b"][-1].assigned == (0, 1, 2) or not changes["b"][-1].assigned


def test_a_member_that_is_stuck_loses_its_partitions(
    shared_broker: BrokerProcess, client: Client, topic: str
) -> None:
    released = threading.Event()
    held: list[ReceivedRecord] = []
    got: list[str] = []
    shares: list[Rebalance] = []

    def hang(record: ReceivedRecord) -> None:
        held.append(record)
        released.wait(60)

    with riverlog.connect(shared_broker.bootstrap) as other:
        stuck = other.subscribe(
            topic,
            group=topic,
            start="earliest",
            on_record=hang,
            on_rebalance=shares.append,
            session_timeout_ms=6_000,
            processing_ms_max=2_000,
        )
        reading = client.subscribe(
            topic,
            group=topic,
            start="earliest",
            on_record=lambda record: got.append(record.text()),
            on_rebalance=shares.append,
        )
        until(lambda: sorted(p for each in shares[-2:] for p in each.assigned) == [0, 1, 2])
        publish(client, topic, 0, 30)
        until(lambda: len(held) == 1)
        until(lambda: set(got) == set(numbers(0, 30)), seconds=40)
        released.set()
        stuck.close()
        reading.close()


def test_a_group_survives_the_restart_of_its_broker(broker: BrokerProcess) -> None:
    with riverlog.connect(broker.bootstrap) as client:
        client.topics.create("t", partitions=2)
        got: list[str] = []
        reading = client.subscribe(
            "t", group="g", start="earliest", on_record=lambda record: got.append(record.text())
        )
        publish(client, "t", 0, 50)
        until(lambda: len(got) == 50)
        # Commits are made about every second.
        time.sleep(1.3)
        broker.kill()
        broker.start()
        publish(client, "t", 50, 100)
        until(lambda: set(got) >= set(numbers(0, 100)))
        reading.close()
    before = [text for text in got if int(text) < 50]
    assert sorted(before) == numbers(0, 50), "what was committed was read again"


def test_ours_and_librdkafka_share_a_group(
    shared_broker: BrokerProcess, client: Client, topic: str
) -> None:
    theirs: list[str] = []
    ours: list[str] = []
    stop = threading.Event()
    consumer = Consumer(
        {
            "bootstrap.servers": shared_broker.bootstrap,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": "range",
            "heartbeat.interval.ms": 100,
        }
    )
    consumer.subscribe([topic])

    def consume() -> None:
        while not stop.is_set():
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                theirs.append((message.value() or b"").decode())
        consumer.close()

    thread = threading.Thread(target=consume)
    thread.start()
    reading = client.subscribe(
        topic, group=topic, start="earliest", on_record=lambda record: ours.append(record.text())
    )
    try:
        sent = 0
        while not (ours and theirs):
            assert sent < 5_000, "one of the two got nothing"
            publish(client, topic, sent, sent + 20)
            sent += 20
            time.sleep(0.1)
        until(lambda: set(ours) | set(theirs) == set(numbers(0, sent)))
    finally:
        stop.set()
        thread.join()
        reading.close()


def test_what_a_group_cannot_do_is_refused(client: Client, topic: str) -> None:
    with pytest.raises(InvalidArgument):
        client.subscribe(topic, group="g", partitions=[0])
    with pytest.raises(InvalidArgument):
        client.subscribe(topic, group="g", until="end")
    with pytest.raises(UnknownTopic):
        client.subscribe("no-such-topic", group="g")
    with pytest.raises(InvalidArgument):
        next(client.subscribe(topic, group=""))


async def test_asyncio_reads_in_a_group(shared_broker: BrokerProcess) -> None:
    told: list[Rebalance] = []

    async def on_rebalance(rebalance: Rebalance) -> None:
        told.append(rebalance)

    async with riverlog.connect_async(shared_broker.bootstrap) as client:
        await client.publish("group-by-asyncio", "v", partition=0)
        subscription = client.subscribe(
            "group-by-asyncio",
            group="by-asyncio",
            start="earliest",
            count=1,
            on_rebalance=on_rebalance,
        )
        assert [record.text() async for record in subscription] == ["v"]
    assert told[0].assigned == (0, 1, 2, 3)


topics = st.text(max_size=10)
wishes = st.lists(st.sampled_from("abc"), unique=True).map(tuple)
members = st.lists(
    st.builds(Member, st.uuids().map(str), wishes),
    max_size=8,
    unique_by=lambda member: member.member_id,
)


@given(members, st.dictionaries(st.sampled_from("abc"), st.integers(0, 20)))
def test_every_partition_has_exactly_one_of_those_who_want_it(
    joined: list[Member], counts: dict[str, int]
) -> None:
    shares = share_by_range(joined, counts)

    for topic, count in counts.items():
        wanting = [member.member_id for member in joined if topic in member.topics]
        given_out = [each for share in shares.values() for each in share.get(topic, [])]
        assert sorted(given_out) == (list(range(count)) if wanting else [])
        sizes = [len(shares[member_id].get(topic, [])) for member_id in wanting]
        assert max(sizes, default=0) - min(sizes, default=0) <= 1
        assert all(topic not in shares[m.member_id] for m in joined if topic not in m.topics)


@given(st.lists(topics))
def test_what_a_member_wants_is_read_back(wanted: list[str]) -> None:
    assert read_topics(write_topics(wanted)) == tuple(wanted)


@given(st.dictionaries(topics, st.lists(st.integers(0, 2**31 - 1))))
def test_what_a_member_gets_is_read_back(share: dict[str, list[int]]) -> None:
    assert read_assignment(write_assignment(share)) == share


@given(st.binary(max_size=60))
def test_any_bytes_of_a_member_are_read_or_refused(data: bytes) -> None:
    for read in (read_topics, read_assignment):
        try:
            read(data)
        except UnreadableMember:
            continue
