"""How much is tried: what CI has time for, unless the environment says otherwise."""

import os
import secrets
import sys

# What a release is tried with stands in CONTRIBUTING.md.
INPUTS = int(os.environ.get("RIVERLOG_FUZZ_INPUTS", "1000000"))
FRAMES = int(os.environ.get("RIVERLOG_FUZZ_FRAMES", "100000"))

# A test is given up after pytest's own time, or this much for each unit where that is more.
TIMEOUT_S = 300
INPUTS_PER_S_MIN = 4_000
FRAMES_PER_S_MIN = 500


def fresh_seed() -> str:
    """Another one for each run; RIVERLOG_FUZZ_SEED takes one again. It is printed."""
    seed = os.environ.get("RIVERLOG_FUZZ_SEED") or secrets.token_hex(6)
    say(f"RIVERLOG_FUZZ_SEED={seed}")
    return seed


def say(text: str) -> None:
    """Pytest shows it with what failed, and with `-rP` always."""
    sys.stdout.write(f"{text}\n")
