"""Waiting for something that another process or thread does."""

import time
from collections.abc import Callable

WAIT_S_MAX = 30


def wait_until(is_so: Callable[[], bool], complaint: Callable[[], str] = lambda: "") -> None:
    """Returns once it is so; fails with the complaint if that takes too long."""
    deadline = time.monotonic() + WAIT_S_MAX
    while not is_so():
        assert time.monotonic() < deadline, complaint() or "it does not become so"
        time.sleep(0.005)
