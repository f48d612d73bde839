"""Topics of Apache Kafka itself as tables: transactions' markers, deleted records, groups."""

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

import riverlog
from riverlog.client.errors import OffsetOutOfRange
from riverlog.tables.brokers import Brokers
from tests.conformance.apache_kafka.kafka_node import shared_node

pytestmark = pytest.mark.client("java")


@pytest.fixture(scope="module")
def bootstrap(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[str]:
    """One node, shared with all other tests that need one."""
    base = tmp_path_factory.getbasetemp()
    is_one_of_many = hasattr(request.config, "workerinput")
    with shared_node((base.parent if is_one_of_many else base) / "apache-kafka") as node:
        yield f"{node.host}:{node.port}"


@pytest.fixture
def topic(bootstrap: str) -> str:
    """A topic with one partition, and in it five records of a transaction and five of none."""
    name = f"t-{uuid4().hex}"
    settings = {"bootstrap.servers": bootstrap, "compression.type": "zstd"}
    with riverlog.connect(bootstrap) as client:
        client.topics.create(name, partitions=1)
        transactional = Producer({**settings, "transactional.id": name})
        transactional.init_transactions(20)
        transactional.begin_transaction()
        for number in range(5):
            transactional.produce(name, str(number))
        transactional.commit_transaction(20)
        # The marker comes a little later.
        while client.topics.offsets(name)[0] < 6:
            time.sleep(0.01)
    plain = Producer(settings)
    for number in range(5, 10):
        plain.produce(name, str(number))
    assert plain.flush(20) == 0
    return name


def test_the_markers_of_transactions_are_no_rows(bootstrap: str, topic: str) -> None:
    def read(end: int) -> list[tuple[int, bytes]]:
        table = riverlog.read_arrow(topic, bootstrap=bootstrap, end=end)
        return list(zip(table["offset"].to_pylist(), table["value"].to_pylist(), strict=True))

    # The marker has offset 5.
    before = [(number, b"%d" % number) for number in range(5)]
    assert read(6) == before
    assert read(100) == before + [(number + 1, b"%d" % number) for number in range(5, 10)]


def test_a_start_that_was_deleted_is_refused(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for deleted in admin.delete_records([TopicPartition(topic, 0, 8)]).values():
        deleted.result(20)

    assert riverlog.read_arrow(topic, bootstrap=bootstrap)["offset"].to_pylist() == [8, 9, 10]
    with pytest.raises(OffsetOutOfRange, match="at offset 2"):
        riverlog.read_arrow(topic, bootstrap=bootstrap, start=2)


def test_a_group_shows_what_was_committed(bootstrap: str, topic: str) -> None:
    group = f"g-{uuid4().hex}"
    with Brokers(bootstrap) as brokers:
        brokers.commit(group, {topic: {0: 7}})

    admin = AdminClient({"bootstrap.servers": bootstrap})
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    found = asked[group].result(20).topic_partitions
    assert [(each.topic, each.partition, each.offset) for each in found] == [(topic, 0, 7)]
