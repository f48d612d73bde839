"""What every test may ask for: real brokers, and outside tools by marker."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.broker_process import BrokerProcess
from tests.tools import require

# How long an example takes says more of the machine's other work than of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture is made: a test marked `client(tool)` needs that tool."""
    for marker in item.iter_markers("client"):
        require(marker.args[0])


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    """A broker of the test's own, which it may stop, kill and restart."""
    yield from _running(tmp_path)


@pytest.fixture(scope="session")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One broker for all tests of this process: use topics of your own, and leave it running."""
    yield from _running(tmp_path_factory.mktemp("shared-broker"))


def _running(directory: Path) -> Iterator[BrokerProcess]:
    process = BrokerProcess(directory)
    process.start()
    try:
        yield process
        process.end()
    finally:
        process.kill()
