"""The clients that are tried, by name."""

from collections.abc import Callable, Sequence

import pytest

from tests.conformance.clients.aiokafka_client import AiokafkaClient
from tests.conformance.clients.client import Client
from tests.conformance.clients.confluent_client import ConfluentClient
from tests.conformance.clients.kafka_python_client import KafkaPythonClient
from tests.conformance.clients.kcat_client import KcatClient
from tests.conformance.clients.process_client import (
    java_client,
    kafkajs_client,
    platformatic_client,
)

MAKERS: dict[str, Callable[[], Client]] = {
    "confluent-kafka": ConfluentClient,
    "kafka-python": KafkaPythonClient,
    "aiokafka": AiokafkaClient,
    "kcat": KcatClient,
    "kafka-clients": java_client,
    "kafkajs": kafkajs_client,
    "platformatic": platformatic_client,
}
TOOLS = {"kcat": "kcat", "kafka-clients": "java", "kafkajs": "node", "platformatic": "node"}

ALL = tuple(MAKERS)
CREATORS = tuple(name for name in ALL if name != "kcat")

OpenClient = Callable[[str], Client]


def with_each(names: Sequence[str]) -> pytest.MarkDecorator:
    """Runs a test that takes `client` once with each of these; a missing tool skips its clients."""
    return pytest.mark.parametrize("client", [_param(name) for name in names], indirect=True)


def _param(name: str) -> object:
    marks = [pytest.mark.client(TOOLS[name])] if name in TOOLS else []
    return pytest.param(name, marks=marks)
