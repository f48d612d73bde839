"""Waiting for something that another process or thread does."""

import os
import time
from collections.abc import Callable

WAIT_S_MAX = 30


def wait_until(is_so: Callable[[], bool], complaint: Callable[[], str] = lambda: "") -> None:
    """Returns once it is so; fails with the complaint if that takes too long."""
    deadline = time.monotonic() + WAIT_S_MAX
    while not is_so():
        assert time.monotonic() < deadline, complaint() or "it does not become so"
        time.sleep(0.005)


def is_dead(pid: int) -> bool:
    """Whether a child is dead; it is left for others to reap."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
