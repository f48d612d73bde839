"""Real clients meet the faults: they see them, and what they retry succeeds."""

import time
import warnings
from collections.abc import Callable, Iterator

import aiokafka
import aiokafka.admin
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

import riverlog
from tests.embedded.talking import TOPIC, values

with warnings.catch_warnings():
    # It reads its schemas with a deprecated function of the standard library.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka
    import kafka.errors

WAIT_S = 20


@pytest.fixture
def broker() -> Iterator[riverlog.Broker]:
    with riverlog.Broker(topics={TOPIC: 1}) as broker:
        yield broker


# Sends one record; gives the name of the error that came back, or "".
Send = Callable[[bytes], str]


@pytest.fixture
def confluent(broker: riverlog.Broker) -> Iterator[Send]:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "reconnect.backoff.max.ms": 100})

    def send(value: bytes) -> str:
        told: list[KafkaError | None] = []
        producer.produce(TOPIC, value, on_delivery=lambda error, _: told.append(error))
        producer.flush(WAIT_S)
        (error,) = told
        return "" if error is None else error.name()

    yield send
    producer.flush(WAIT_S)


@pytest.fixture
def kafka_python(broker: riverlog.Broker) -> Iterator[Send]:
    producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap, retry_backoff_ms=10)

    def send(value: bytes) -> str:
        try:
            producer.send(TOPIC, value).get(WAIT_S)
        except kafka.errors.KafkaError as error:
            return type(error).__name__
        return ""

    yield send
    producer.close()


@pytest.mark.parametrize("client", ["confluent", "kafka_python"])
def test_a_producer_rides_out_what_passes_and_tells_what_does_not(
    broker: riverlog.Broker, client: str, request: pytest.FixtureRequest
) -> None:
    send: Send = request.getfixturevalue(client)
    passing = broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=2)
    assert send(b"retried") == ""
    assert passing.struck == 2

    with broker.faults.delay("Produce", 200):
        started = time.monotonic()
        assert send(b"late") == ""
        assert time.monotonic() - started >= 0.2

    dropped = broker.faults.drop_connections("Produce")
    assert send(b"sent again") == ""
    assert dropped.struck == 1

    broker.faults.crash()
    assert send(b"after the crash") == ""

    broker.faults.fail("Produce", "INVALID_RECORD")
    assert send(b"refused").replace("_", "").lower().startswith("invalidrecord")
    assert values(broker.address) == [b"retried", b"late", b"sent again", b"after the crash"]


async def test_aiokafka_repeats_a_record_whose_reply_was_lost_unless_it_is_idempotent(
    broker: riverlog.Broker,
) -> None:
    for is_idempotent in (False, True):
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap,
            enable_idempotence=is_idempotent,
            acks="all",
            retry_backoff_ms=10,
        )
        await producer.start()
        lost = broker.faults.drop_connections("Produce", after=True)
        await producer.send_and_wait(TOPIC, b"%d" % is_idempotent)
        await producer.stop()
        assert lost.struck == 1
    assert values(broker.address) == [b"0", b"0", b"1"]


async def test_aiokafka_is_told_why_its_topics_cannot_be_made(broker: riverlog.Broker) -> None:
    broker.faults.fail("CreateTopics", "POLICY_VIOLATION")
    admin = aiokafka.admin.AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    refused = await admin.create_topics([aiokafka.admin.NewTopic("new", 1, 1)])
    made = await admin.create_topics([aiokafka.admin.NewTopic("new", 1, 1)])
    await admin.close()
    assert [topic[1] for topic in refused.topic_errors] == [44]
    assert [topic[1] for topic in made.topic_errors] == [0]


def test_kafka_python_finds_a_new_leader_after_a_refused_fetch(broker: riverlog.Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(TOPIC, b"found")
    assert producer.flush(WAIT_S) == 0
    refused = broker.faults.fail("Fetch", "NOT_LEADER_OR_FOLLOWER", times=2)
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=broker.bootstrap, consumer_timeout_ms=WAIT_S * 1000, retry_backoff_ms=10
    )
    consumer.assign([kafka.TopicPartition(TOPIC, 0)])
    consumer.seek_to_beginning()
    assert next(consumer).value == b"found"
    consumer.close()
    assert refused.struck == 2


def test_confluent_kafka_times_out_at_a_broker_that_is_too_slow(broker: riverlog.Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    with (
        broker.faults.delay("Metadata", 1_000) as slow,
        pytest.raises(KafkaException, match=r"(?i)timed.out"),
    ):
        admin.list_topics(timeout=0.3)
    assert slow.struck >= 1
