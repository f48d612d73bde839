"""How fast a disk keeps what it is given, measured with the calls a broker makes."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from riverlog.stores.disk import OsDisk, opened

BUDGET_MS = 1_000
PHASES = 3

_APPEND_BYTES = 1024
_APPENDS_MAX = 5_000
_BLOCK_BYTES = 1 << 20
_BLOCKS_MAX = 256
_FILES = 64
_ROUNDS_MAX = 200

# Hears after each step how many of the `PHASES * BUDGET_MS` milliseconds it stands for.
OnProgress = Callable[[int], None]


class DiskSpeed(NamedTuple):
    """What was measured. Appends are of 1 KiB, each synced; the many files are synced in turn."""

    append_count: int
    append_us_p50: float
    append_us_p99: float
    write_bytes_per_s: int
    file_count: int
    files_ms_p50: float


def measure_disk(directory: str, on_progress: OnProgress, budget_ms: int = BUDGET_MS) -> DiskSpeed:
    """Measures in a directory of its own inside `directory`, and removes it whatever happens.

    Takes about three times `budget_ms`, and at most 260 MiB; raises `OSError`.
    """
    with ExitStack() as stack:
        with _undisturbed():
            scratch = stack.enter_context(
                tempfile.TemporaryDirectory(prefix=".riverlog-doctor-", dir=directory)
            )
        appends_ns = _append(f"{scratch}/append", _Deadline(budget_ms, on_progress))
        rate = _stream(f"{scratch}/stream", _Deadline(budget_ms, on_progress))
        rounds_ns = _sync_many(scratch, _Deadline(budget_ms, on_progress))
    return DiskSpeed(
        len(appends_ns),
        percentile(appends_ns, 50) / 1_000,
        percentile(appends_ns, 99) / 1_000,
        rate,
        _FILES,
        percentile(rounds_ns, 50) / 1_000_000,
    )


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Lets signals wait: one that came when the directory is just made would leave it behind."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def percentile(values: list[int], percent: int) -> int:
    """The value that so many percent of these are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


class _Deadline:
    """Says when the time of one measurement is up, and how far it has come."""

    def __init__(self, budget_ms: int, on_progress: OnProgress) -> None:
        self._start_ns = time.perf_counter_ns()
        self._budget_ms = budget_ms
        self._told_ms = 0
        self._on_progress = on_progress

    def has_passed(self) -> bool:
        elapsed_ms = min((time.perf_counter_ns() - self._start_ns) // 1_000_000, self._budget_ms)
        self._on_progress(elapsed_ms - self._told_ms)
        self._told_ms = elapsed_ms
        return elapsed_ms >= self._budget_ms


def _append(path: str, deadline: _Deadline) -> list[int]:
    """One durable append after the other, into a file filled ahead, as a broker's are."""
    data = os.urandom(_APPEND_BYTES)
    taken_ns: list[int] = []
    with opened(OsDisk().create(path)) as file:
        file.write(0, bytes(_APPEND_BYTES * _APPENDS_MAX))
        file.sync()
        while len(taken_ns) < _APPENDS_MAX:
            start_ns = time.perf_counter_ns()
            file.write(len(taken_ns) * _APPEND_BYTES, data)
            file.sync()
            taken_ns.append(time.perf_counter_ns() - start_ns)
            if deadline.has_passed():
                break
    return taken_ns


def _stream(path: str, deadline: _Deadline) -> int:
    """Bytes a second of one long write, the sync at its end included."""
    block = os.urandom(_BLOCK_BYTES)
    with opened(OsDisk().create(path)) as file:
        start_ns = time.perf_counter_ns()
        written = 0
        # A sync now and then: else the time is up before the disk has had anything to do.
        while written < _BLOCKS_MAX * _BLOCK_BYTES:
            for _ in range(8):
                file.write(written, block)
                written += _BLOCK_BYTES
            file.sync()
            if deadline.has_passed():
                break
        return written * 1_000_000_000 // (time.perf_counter_ns() - start_ns)


def _sync_many(directory: str, deadline: _Deadline) -> list[int]:
    """How long it takes to write a little to every one of many files, and to sync them all."""
    data = os.urandom(_APPEND_BYTES)
    taken_ns: list[int] = []
    with ExitStack() as stack:
        files = [
            stack.enter_context(opened(OsDisk().create(f"{directory}/{number}")))
            for number in range(_FILES)
        ]
        while len(taken_ns) < _ROUNDS_MAX:
            start_ns = time.perf_counter_ns()
            for file in files:
                file.write(len(taken_ns) * _APPEND_BYTES, data)
            for file in files:
                file.sync()
            taken_ns.append(time.perf_counter_ns() - start_ns)
            if deadline.has_passed():
                break
    return taken_ns
