"""A connected client, and a topic of the test's own."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

import riverlog
from riverlog.client.sync_client import Client
from tests.broker_process import BrokerProcess


@pytest.fixture
def client(shared_broker: BrokerProcess) -> Iterator[Client]:
    """A client of the shared broker."""
    with riverlog.connect(shared_broker.bootstrap) as connected:
        yield connected


@pytest.fixture
def topic(client: Client) -> str:
    """A topic with three partitions that nobody else uses."""
    name = f"t-{uuid4().hex}"
    client.topics.create(name, partitions=3)
    return name
