"""The two brokers that are compared."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker_process import BrokerProcess
from tests.conformance.apache_kafka.kafka_node import KafkaNode, shared_node
from tests.conformance.clients.raw_connection import Listening


@pytest.fixture(scope="session")
def apache_kafka(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[KafkaNode]:
    """One node of Apache Kafka for the whole run, however many processes it has."""
    base: Path = tmp_path_factory.getbasetemp()
    is_one_of_many = hasattr(request.config, "workerinput")
    with shared_node((base.parent if is_one_of_many else base) / "apache-kafka") as node:
        yield node


@pytest.fixture
def brokers(apache_kafka: KafkaNode, shared_broker: BrokerProcess) -> tuple[Listening, Listening]:
    """Apache Kafka and Riverlog."""
    return apache_kafka, shared_broker
