"""Every choice of a test, from one seed that is told."""

import os
import time
from random import Random


def told_chance() -> Random:
    """From a fresh seed; `RIVERLOG_SEED` in the environment repeats that of an earlier run."""
    seed = os.environ.get("RIVERLOG_SEED", str(time.time_ns() % 1_000_000))
    print(f"RIVERLOG_SEED={seed}")  # noqa: T201  # shown when the test fails
    return Random(seed)
