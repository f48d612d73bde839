"""The broker that is attacked: one for all attacks, since none of them may leave a trace."""

from pathlib import Path

import pytest

from tests.broker_process import BrokerProcess
from tests.hostile.scene import Scene


@pytest.fixture(scope="session", autouse=True)
def _needs_proc() -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("needs Linux's /proc")


@pytest.fixture
def scene(shared_broker: BrokerProcess) -> Scene:
    """An attack on a broker with all its limits as they come."""
    return Scene(shared_broker)
