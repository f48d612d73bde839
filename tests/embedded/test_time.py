"""What a broker does as time passes, without waiting for it."""

import socket
import time
from collections.abc import Callable

from confluent_kafka import Consumer, Producer

import riverlog
from tests.embedded.talking import TOPIC, fetch, produce

WAIT_S = 20
HOUR_MS = 3_600_000


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_its_clock_moves_ahead_and_stays_there() -> None:
    with riverlog.Broker() as broker:
        broker.create_topic(TOPIC, 1, {"message.timestamp.before.max.ms": "60000"})
        assert produce(broker.address, b"now").error_code == 0
        broker.advance(HOUR_MS)
        assert produce(broker.address, b"an hour old").error_code == 32
        broker.restart()
        assert produce(broker.address, b"still an hour old").error_code == 32


def test_idle_connections_end() -> None:
    with (
        riverlog.Broker() as broker,
        socket.create_connection(broker.address, timeout=WAIT_S) as connection,
    ):
        broker.advance(0)
        broker.advance(700_000)
        assert connection.recv(1) == b""


def test_old_records_go() -> None:
    with riverlog.Broker() as broker:
        broker.create_topic(TOPIC, 1, {"retention.ms": "60000"})
        produce(broker.address, b"old")
        broker.advance(30_000)
        assert fetch(broker.address).error_code == 0
        broker.advance(HOUR_MS)
        wait_until(lambda: fetch(broker.address).error_code == 1)  # OFFSET_OUT_OF_RANGE
        assert produce(broker.address, b"new").base_offset == 1


def test_a_consumer_that_sends_no_heartbeat_loses_its_partitions() -> None:
    with riverlog.Broker(topics={TOPIC: 1}) as broker:
        settings = {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "readers",
            "auto.offset.reset": "earliest",
        }
        stuck = Consumer({**settings, "heartbeat.interval.ms": 40_000})
        stuck.subscribe([TOPIC])
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce(TOPIC, b"work")
        producer.flush(WAIT_S)
        message = stuck.poll(WAIT_S)
        assert message is not None
        assert message.value() == b"work"

        eager = Consumer(settings)
        eager.subscribe([TOPIC])
        assert eager.poll(0.5) is None
        broker.advance(60_000)
        message = eager.poll(WAIT_S)
        assert message is not None
        assert message.value() == b"work"
        eager.close()
        stuck.close()
