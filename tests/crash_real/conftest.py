"""What the tests of this folder share."""

import pytest

from riverlog.testing.history import History


@pytest.fixture
def history() -> History:
    """Where a test's clients write down what they send and are told."""
    return History()
