"""Publishing: where records go, that they are there once and in order, and what is refused."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riverlog
from riverlog import NewRecord
from riverlog.client.errors import Closed, InvalidArgument, TooLarge, UnknownTopic
from riverlog.client.outgoing import as_bytes, as_headers
from riverlog.client.settings import ClientSettings
from riverlog.client.sync_client import Client
from riverlog.records.partitioning import partition_of
from tests.broker_process import BrokerProcess


def everything(client: Client, topic: str) -> dict[int, list[bytes | None]]:
    """All values of a topic by partition, in order."""
    found: dict[int, list[bytes | None]] = defaultdict(list)
    for record in client.subscribe(topic, start="earliest", until="end"):
        assert record.offset == len(found[record.partition])
        found[record.partition].append(record.value)
    return dict(found)


def test_a_record_comes_back_as_it_was_published(client: Client, topic: str) -> None:
    went = client.publish(
        topic,
        "grüße",
        key=b"\x00\xff",
        headers=[("a", "1"), ("a", None), ("b", b"\xff")],
        timestamp_ms=1_700_000_000_123,
        partition=2,
    )
    assert went == (topic, 2, 0)
    (record,) = client.subscribe(topic, start="earliest", until="end")
    assert record[:4] == (topic, 2, 0, 1_700_000_000_123)
    assert (record.key, record.text()) == (b"\x00\xff", "grüße")
    assert record.headers == (("a", b"1"), ("a", None), ("b", b"\xff"))
    assert record.header("b") == b"\xff"
    assert record.time.isoformat() == "2023-11-14T22:13:20.123000+00:00"


def test_a_key_goes_where_the_java_client_would_put_it(client: Client, topic: str) -> None:
    keys = [f"key-{number}" for number in range(20)]
    results = client.publish_batch(topic, [(key, "v") for key in keys]).results()
    assert [result.partition for result in results] == [partition_of(k.encode(), 3) for k in keys]


def test_nulls_are_not_empty(client: Client, topic: str) -> None:
    client.publish_batch(topic, [NewRecord(None, b"", partition=0), NewRecord(b"", partition=0)])
    first, second = client.subscribe(topic, start="earliest", count=2)
    assert (first.key, first.value) == (b"", None)
    assert (second.key, second.value) == (None, b"")


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_batch_keeps_its_order_whatever_the_compression(
    shared_broker: BrokerProcess, client: Client, topic: str, compression: str
) -> None:
    values = [b"%d" % number * 20 for number in range(3000)]
    chosen = riverlog.connect(shared_broker.bootstrap, compression=compression)  # type: ignore[arg-type]  # the names of a parametrized test
    with chosen as compressing:
        records = [NewRecord(value, partition=1) for value in values]
        results = compressing.publish_batch(topic, records).results()
    assert [result.offset for result in results] == list(range(3000))
    assert everything(client, topic) == {1: values}


def test_every_record_of_a_batch_has_a_future_of_its_own(client: Client, topic: str) -> None:
    futures = client.publish_batch(topic, ["a", ("key", "b"), NewRecord("c")]).futures()
    results = [future.result(10) for future in futures]
    stored = everything(client, topic)
    assert [stored[result.partition][result.offset] for result in results] == [b"a", b"b", b"c"]


def test_threads_publish_through_one_client(client: Client, topic: str) -> None:
    def publish(number: int) -> tuple[int, int]:
        went = client.publish(topic, str(number))
        return went.partition, went.offset

    with ThreadPoolExecutor(8) as threads:
        places = list(threads.map(publish, range(200)))
    stored = everything(client, topic)
    assert [stored[partition][offset] for partition, offset in places] == [
        b"%d" % number for number in range(200)
    ]
    assert sum(map(len, stored.values())) == 200


def test_more_than_may_wait_is_published_all_the_same(
    shared_broker: BrokerProcess, client: Client, topic: str
) -> None:
    narrow = ClientSettings(buffer_bytes_max=10_000, batch_bytes_max=2_000)
    with riverlog.connect(shared_broker.bootstrap, settings=narrow) as small:
        results = small.publish_batch(topic, ["x" * 100] * 3000).results()
    assert len({(result.partition, result.offset) for result in results}) == 3000


def test_closing_waits_for_what_was_published(
    shared_broker: BrokerProcess, client: Client, topic: str
) -> None:
    with riverlog.connect(shared_broker.bootstrap) as leaving:
        leaving.publish_batch(topic, [NewRecord(str(n), partition=0) for n in range(2000)])
    assert everything(client, topic) == {0: [b"%d" % number for number in range(2000)]}


def test_a_closed_client_says_so(shared_broker: BrokerProcess, topic: str) -> None:
    with riverlog.connect(shared_broker.bootstrap) as leaving:
        pass
    with pytest.raises(Closed):
        leaving.publish(topic, "late")


def test_a_batch_larger_than_the_topic_takes_is_split(client: Client, topic: str) -> None:
    small = f"{topic}-small"
    client.topics.create(small, partitions=1, configs={"max.message.bytes": "2000"})
    results = client.publish_batch(small, ["x" * 500] * 100).results()
    assert [result.offset for result in results] == list(range(100))
    with pytest.raises(TooLarge):
        client.publish(small, "x" * 3000)
    assert client.publish(small, "after it").offset == 100


def test_a_partition_that_is_not_there_is_named(client: Client, topic: str) -> None:
    with pytest.raises(UnknownTopic, match="partitions 0 to 2, not 3"):
        client.publish(topic, "v", partition=3)


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (1, {}),
        ("\ud800", {}),
        ("v", {"key": 1.5}),
        ("v", {"headers": [(b"name", b"value")]}),
        ("v", {"headers": {"\ud800": b""}}),
        ("v", {"timestamp_ms": -1}),
        ("v", {"timestamp_ms": 2**63}),
    ],
)
def test_what_cannot_be_sent_is_refused_before_it_is(
    client: Client, topic: str, value: object, options: dict[str, object]
) -> None:
    with pytest.raises(InvalidArgument):
        client.publish(topic, value, **options)  # type: ignore[arg-type]  # wrong on purpose
    assert everything(client, topic) == {}


def test_an_invalid_topic_name_is_refused_at_once(client: Client) -> None:
    with pytest.raises(InvalidArgument):
        client.publish("no/such name", "v")


texts = st.none() | st.binary(max_size=20) | st.text(max_size=20)
records = st.builds(
    NewRecord,
    texts,
    texts,
    st.lists(st.tuples(st.text(max_size=5), texts), max_size=3),
    # Brokers refuse times that lie in the future.
    st.integers(0, 1_700_000_000_000),
    st.integers(0, 2),
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(records, max_size=30))
def test_any_batch_comes_back_as_it_was_published(
    client: Client, topic: str, batch: list[NewRecord]
) -> None:
    results = client.publish_batch(topic, batch).results()

    for result, published in zip(results, batch, strict=True):
        places = {result.partition: result.offset}
        (record,) = client.subscribe(topic, start=places, count=1)
        assert (record.partition, record.offset) == (published.partition, result.offset)
        assert record.timestamp_ms == published.timestamp_ms
        assert record.key == as_bytes(published.key, "")
        assert record.value == as_bytes(published.value, "")
        assert record.headers == as_headers(published.headers)
