"""Clients for tests, each opened once."""

from collections.abc import Iterator

import pytest

from tests.conformance.clients.client import Client
from tests.conformance.clients.roster import MAKERS, OpenClient


@pytest.fixture(scope="session")
def open_client() -> Iterator[OpenClient]:
    """Gives a client by name; one with a process of its own starts once, and ends here."""
    clients: dict[str, Client] = {}

    def opened(name: str) -> Client:
        if name not in clients:
            clients[name] = MAKERS[name]()
        return clients[name]

    yield opened
    for client in clients.values():
        client.close()


@pytest.fixture
def client(request: pytest.FixtureRequest, open_client: OpenClient) -> Client:
    """The client whose turn it is; see `roster.with_each`."""
    return open_client(request.param)
