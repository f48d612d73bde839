"""Topics as tables: the rows a subscription gives, up to the end and no further."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from confluent_kafka import Producer

import riverlog
from riverlog import NewRecord
from riverlog.client.errors import CorruptRecords, InvalidArgument, UnknownTopic, Unreachable

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
NOW_MS = 1_767_225_600_000


@pytest.fixture(scope="module")
def broker() -> Iterator[riverlog.Broker]:
    with riverlog.Broker(topics={"empty": 2}) as running:
        yield running


def fill(broker: riverlog.Broker, topic: str, codec: str, count: int, partitions: int = 3) -> None:
    """Records of every kind: keys, nulls, headers and times of their own."""
    broker.create_topic(topic, partitions)
    settings = {"bootstrap.servers": broker.bootstrap, "compression.type": codec, "linger.ms": 5}
    producer = Producer(settings)
    for number in range(count):
        producer.produce(
            topic,
            value=None if number % 7 == 0 else f"value {number} {'x' * (number % 100)}",
            key=None if number % 5 == 0 else f"key {number % 11}",
            headers=[("n", str(number)), ("none", None)] if number % 3 == 0 else None,
            timestamp=NOW_MS + number,
            partition=number % partitions,
        )
    assert producer.flush(30) == 0


def subscribed(broker: riverlog.Broker, topic: str) -> list[tuple[object, ...]]:
    with broker.connect() as client:
        found = list(client.subscribe(topic, start="earliest", until="end"))
    found.sort(key=lambda record: (record.partition, record.offset))
    return [
        (
            record.key,
            record.value,
            record.topic,
            record.partition,
            record.offset,
            record.time,
            0,
            [{"key": name, "value": value} for name, value in record.headers] or None,
        )
        for record in found
    ]


def as_tuples(table: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize("codec", CODECS)
def test_a_table_has_what_a_subscription_gives(broker: riverlog.Broker, codec: str) -> None:
    fill(broker, f"all-{codec}", codec, 2_000)

    table = riverlog.read_arrow(f"all-{codec}", bootstrap=broker.bootstrap)

    assert table.num_rows == 2_000
    assert as_tuples(table) == subscribed(broker, f"all-{codec}")


def test_it_begins_and_ends_exactly_where_it_is_told(broker: riverlog.Broker) -> None:
    fill(broker, "cut", "zstd", 900)

    def offsets(**options: object) -> list[tuple[int, int]]:
        table = riverlog.read_arrow(
            "cut",
            bootstrap=broker.bootstrap,
            columns=["partition", "offset"],
            **options,  # type: ignore[arg-type] # each of its own type
        )
        return [(row["partition"], row["offset"]) for row in table.to_pylist()]

    def rows(partition: int, first: int, end: int) -> list[tuple[int, int]]:
        return [(partition, offset) for offset in range(first, end)]

    assert offsets(start=10, end=13) == [*rows(0, 10, 13), *rows(1, 10, 13), *rows(2, 10, 13)]
    assert offsets(start={1: 5}, end={1: 6, 2: 9}) == rows(1, 5, 6)
    assert offsets(start=-2, partitions=[2]) == rows(2, 298, 300)
    assert offsets(start=290, end=10_000, partitions=[0]) == rows(0, 290, 300)
    a_time = datetime.fromtimestamp((NOW_MS + 450) / 1000, UTC)
    assert offsets(start=a_time, end=152, partitions=[1]) == rows(1, 150, 152)
    assert offsets(end=a_time, start=149, partitions=[1]) == rows(1, 149, 150)
    assert offsets(start="latest") == []
    assert offsets(start=20, end=10) == []
    assert offsets(start=-1, partitions=[2, 0]) == [*rows(0, 299, 300), *rows(2, 299, 300)]


def test_columns_are_those_asked_for_in_their_order(broker: riverlog.Broker) -> None:
    fill(broker, "columns", "none", 10)

    table = riverlog.read_arrow(
        "columns", bootstrap=broker.bootstrap, columns=["timestamp", "value"]
    )

    assert table.schema.names == ["timestamp", "value"]
    assert table.schema.field("timestamp").type == pa.timestamp("us", tz="UTC")


def test_an_empty_topic_is_an_empty_table_with_all_columns(broker: riverlog.Broker) -> None:
    table = riverlog.read_arrow("empty", bootstrap=broker.bootstrap)

    assert table.num_rows == 0
    assert table.schema.names[:2] == ["key", "value"]


def test_a_stream_ends_at_what_was_there_when_it_was_asked_for(broker: riverlog.Broker) -> None:
    fill(broker, "stream", "none", 300)

    stream = riverlog.read_arrow_batches("stream", bootstrap=broker.bootstrap, columns=["offset"])
    with broker.connect() as client:
        client.publish("stream", "later")

    assert sum(batch.num_rows for batch in stream) == 300


@pytest.fixture(scope="module")
def large(broker: riverlog.Broker) -> str:
    """Two partitions that take several answers each: 200 records of 100 kB."""
    broker.create_topic("large", 2)
    records = [NewRecord(bytes(100_000), partition=number % 2) for number in range(400)]
    with broker.connect() as client:
        client.publish_batch("large", records).results()
    return "large"


def test_what_is_held_of_a_stream_is_bounded(broker: riverlog.Broker, large: str) -> None:
    stream = riverlog.read_arrow_batches(large, bootstrap=broker.bootstrap, columns=["value"])

    sizes = [batch.num_rows * 100_000 for batch in stream]

    assert sum(sizes) == 40_000_000
    assert max(sizes) <= 8 << 20


def test_a_partition_that_is_done_is_read_no_further(broker: riverlog.Broker, large: str) -> None:
    ends = {0: 1, 1: 200}

    table = riverlog.read_arrow(large, bootstrap=broker.bootstrap, end=ends, columns=["partition"])

    assert table["partition"].to_pylist() == [0] + [1] * 200


def test_batches_that_are_damaged_are_named() -> None:
    from riverlog.client.fetcher import Fetched
    from riverlog.records.builder import build_batch
    from riverlog.records.record import Record
    from riverlog.tables.ranges import _rows

    data = bytearray(build_batch([Record(0, NOW_MS, b"k", b"v")]))
    data[-1] ^= 1

    with pytest.raises(CorruptRecords, match="orders/4: the batch at offset 0 cannot be read"):
        list(_rows("orders", Fetched(4, 0, bytes(data), []), 9, ("key",)))


def test_what_cannot_be_is_said_in_a_sentence(broker: riverlog.Broker) -> None:
    at = broker.bootstrap
    with pytest.raises(UnknownTopic, match="missing"):
        riverlog.read_arrow("missing", bootstrap=at)
    with pytest.raises(UnknownTopic, match="partitions 0 to 1, not 9"):
        riverlog.read_arrow("empty", bootstrap=at, partitions=[9])
    with pytest.raises(InvalidArgument, match="no column 'vlaue': there are key, value,"):
        riverlog.read_arrow("empty", bootstrap=at, columns=["vlaue"])
    with pytest.raises(InvalidArgument, match="at least one column"):
        riverlog.read_arrow("empty", bootstrap=at, columns=[])
    with pytest.raises(InvalidArgument, match="is no place in a topic"):
        riverlog.read_arrow("empty", bootstrap=at, start="begin")  # type: ignore[arg-type] # wrong


def test_a_broker_that_is_not_there_is_said_to_be() -> None:
    from riverlog.tables.brokers import SETTINGS, Brokers

    with (
        Brokers("127.0.0.1:1", SETTINGS._replace(timeout_ms=1000)) as brokers,
        pytest.raises(Unreachable, match=r"127\.0\.0\.1:1: connection refused"),
    ):
        brokers.topics()


def test_without_pyarrow_a_sentence_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import riverlog\n"
        "try: riverlog.read_arrow\n"
        "except ImportError as error: print(error)\n"
    )

    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert told.stdout == (
        "reading a topic as a table needs pyarrow: pip install riverlog[arrow]\n"
    )
