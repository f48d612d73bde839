"""The two brokers that are compared."""

from collections.abc import Iterator

import pytest

from tests.broker_process import BrokerProcess
from tests.conformance.apache_kafka.kafka_node import KafkaNode, node_of_run
from tests.conformance.clients.raw_connection import Listening


@pytest.fixture(scope="session")
def apache_kafka(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[KafkaNode]:
    """Apache Kafka itself."""
    with node_of_run(tmp_path_factory, request) as node:
        yield node


@pytest.fixture
def brokers(apache_kafka: KafkaNode, shared_broker: BrokerProcess) -> tuple[Listening, Listening]:
    """Apache Kafka and Riverlog."""
    return apache_kafka, shared_broker
