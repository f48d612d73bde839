"""Kafka's own formatters read what groups have written down."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from tests.broker_process import BrokerProcess
from tests.conformance.apache_kafka.command_line import CommandLine

GROUP, TOPIC = "readers", "orders"
FORMATTERS = "org.apache.kafka.tools.consumer"
WAIT_S_MAX = 30
# A generation, a commit, and the group without members.
RECORDS = 3


@pytest.fixture
def command_line() -> Iterator[CommandLine]:
    command_line = CommandLine()
    yield command_line
    command_line.close()


@pytest.mark.client("apache-kafka")
def test_kafka_reads_generations_and_offsets(
    broker: BrokerProcess, command_line: CommandLine
) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(TOPIC, b"first", partition=0)
    assert producer.flush(WAIT_S_MAX) == 0
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": GROUP, "client.id": "reader"}
    del producer
    others = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(settings | others)
    consumer.subscribe([TOPIC])
    message = consumer.poll(WAIT_S_MAX)
    assert message is not None
    consumer.commit(asynchronous=False)
    consumer.close()

    def shown(formatter: str) -> list[dict[str, Any]]:  # as JSON has it
        ran = command_line.run(
            "kafka-console-consumer", "--bootstrap-server", broker.bootstrap,
            "--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", "5000",
            "--max-messages", str(RECORDS), "--formatter", f"{FORMATTERS}.{formatter}",
        )  # fmt: skip
        # They stand one after the other, with nothing in between.
        return [json.loads(one) for one in ran.out.strip().replace("}{", "}\n{").split("\n")]

    (offset,) = shown("OffsetsMessageFormatter")
    stable, empty = shown("GroupMetadataMessageFormatter")

    assert offset["key"] == {
        "type": 1,
        "data": {"group": GROUP, "topic": TOPIC, "partition": 0},
    }
    assert offset["value"]["version"] == 3
    assert offset["value"]["data"]["offset"] == 1
    assert stable["key"] == {"type": 2, "data": {"group": GROUP}}
    settled = stable["value"]["data"]
    assert (settled["protocolType"], settled["generation"]) == ("consumer", 1)
    (member,) = settled["members"]
    assert settled["leader"] == member["memberId"]
    assert (member["clientId"], member["clientHost"]) == ("reader", "/127.0.0.1")
    assert empty["value"]["data"]["members"] == []
