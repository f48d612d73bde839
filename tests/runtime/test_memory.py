"""Freed memory goes back to the system when little is done, and not before."""

import asyncio
import platform
import subprocess
import sys
from contextlib import suppress

import pytest

from riverlog.runtime.memory import LOOK_MS, QUIET_SHARE, WORTHWHILE_S, give_back_when_quiet
from riverlog.testing.manual_clock import ManualClock

BUSY_S = LOOK_MS / 1000 * QUIET_SHARE
A_LITTLE_S = WORTHWHILE_S / 2
SOME_S = WORTHWHILE_S * 2

PROGRAM = """
import threading
from pathlib import Path
from riverlog.runtime.memory import give_back_freed_memory, keep_freed_memory

def resident_mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

def take_and_free():
    [b"x" * (1 << 20) for _ in range(48)]

keep_freed_memory()
before = resident_mib()
thread = threading.Thread(target=take_and_free)
thread.start()
thread.join()
kept = resident_mib()
give_back_freed_memory()
print(kept - before, resident_mib() - before)
"""


async def given_back(*computed_s: float) -> list[int]:
    """At which looks memory is given back by a process that has computed so much before each."""
    clock, given = ManualClock(), []
    total_s, look = 0.0, 0
    task = asyncio.ensure_future(
        give_back_when_quiet(clock, lambda: given.append(look), lambda: total_s)
    )
    await clock.until_asleep()
    for look, each_s in enumerate(computed_s):  # noqa: B007  # read when memory is given back
        total_s += each_s
        clock.advance_ms(LOOK_MS)
        await clock.until_asleep()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return given


@pytest.mark.parametrize(
    ("computed_s", "given"),
    [
        pytest.param((0.0, 0.0), [], id="idle"),
        pytest.param((BUSY_S, BUSY_S), [], id="busy all the time"),
        pytest.param((BUSY_S, 0.0, 0.0), [1], id="once after a busy time"),
        pytest.param((SOME_S, SOME_S), [0, 1], id="beside a little work"),
        pytest.param((A_LITTLE_S, A_LITTLE_S, A_LITTLE_S), [2], id="for hardly any, now and then"),
    ],
)
async def test_memory_is_given_back_when_it_is_quiet_after_something_was_done(
    computed_s: tuple[float, ...], given: list[int]
) -> None:
    assert await given_back(*computed_s) == given


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_what_a_thread_has_freed_is_kept_until_it_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)

    kept_mib, left_mib = map(int, done.stdout.split())
    assert kept_mib > 40
    assert left_mib < 8
