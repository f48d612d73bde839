"""The pytest plugin: a real broker for a test, a clock to move and faults to ask for.

    @pytest.mark.riverlog(topics={"orders": 3}, num_partitions=1)
    def test_orders_are_shipped(riverlog_broker):
        shop = Shop(kafka=riverlog_broker.bootstrap)

Nothing of the broker is loaded before a test asks for one.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from riverlog.embedded import Broker

MARKER = "riverlog"


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(topics, **settings): the topics (name and number of partitions) and the "
        "settings of the broker that `riverlog_broker` gives to this test",
    )


@pytest.fixture
def riverlog_broker(request: pytest.FixtureRequest) -> "Iterator[Broker]":
    """A broker of the test's own, in memory; it is gone when the test ends."""
    with _broker_for(request) as broker:
        yield broker


@pytest.fixture(scope="session")
def riverlog_session_broker() -> "Iterator[Broker]":
    """One broker for all tests of this process: use topics of your own, and leave it running."""
    from riverlog.embedded import Broker

    with Broker() as broker:
        yield broker


def _broker_for(request: pytest.FixtureRequest) -> "Broker":
    from riverlog.embedded import Broker

    wanted: dict[str, Any] = {}
    topics: dict[str, int] = {}
    # Those nearest to the test come last, and win.
    for marker in reversed(list(request.node.iter_markers(MARKER))):
        if marker.args:
            raise pytest.UsageError(f"write @pytest.mark.{MARKER}(topics=…), with names")
        settings = dict(marker.kwargs)
        topics |= settings.pop("topics", {})
        wanted |= settings
    return Broker(topics=topics, **wanted)
