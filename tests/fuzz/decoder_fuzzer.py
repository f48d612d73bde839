"""Throws changed inputs at every decoder, in this process or in several: see `targets`."""

import multiprocessing
import resource
import time
import traceback
import tracemalloc
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

from tests.fuzz.failures import Failure
from tests.fuzz.targets import Target, targets

INPUT_CPU_S_MAX = 5.0
INPUT_BYTES_MAX = 1 << 16
# One input in so many is also weighed: that is a hundred times slower.
WEIGHED_EVERY = 400
# What a worker may take on top of what it has; a count that is believed takes gigabytes.
ROOM_BYTES = 512 << 20
# A changed input that did no harm is at times changed further, so that several lies meet.
DESCENDANTS_MAX = 200


def fuzz(
    seed: str, input_count: int, aims: Mapping[str, Target] | None = None
) -> tuple[int, Failure | None]:
    """Tries so many inputs; how many there were, and the first that did what it may not."""
    aims = targets() if aims is None else aims
    chance = Random(seed)
    total = sum(target.share for target in aims.values())
    done = 0
    for target in aims.values():
        count = max(1, input_count * target.share // total)
        failure = _fuzz_one(target, count, chance, seed)
        done += count
        if failure is not None:
            return done, failure
    return done, None


def fuzz_in_processes(seed: str, input_count: int, workers: int) -> tuple[int, Failure | None]:
    """The same by several processes, each with a seed of its own and a limit to its memory."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_limit_memory) as pool:
        seeds = [f"{seed}/{number}" for number in range(workers)]
        results = list(pool.map(fuzz, seeds, [input_count // workers] * workers))
    failures = [failure for _, failure in results if failure is not None]
    return sum(count for count, _ in results), failures[0] if failures else None


def attempt(target: Target, data: bytes) -> str | None:
    """Why the outcome was not allowed, or None; weighs it too."""
    tracemalloc.start()
    try:
        reason = _outcome(target, data)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    bytes_max = target.floor_bytes + target.growth * len(data)
    if reason is None and peak_bytes > bytes_max:
        return f"it took {peak_bytes} bytes to read {len(data)}, more than {bytes_max}"
    return reason


def _fuzz_one(target: Target, count: int, chance: Random, seed: str) -> Failure | None:
    mutate = target.mutator(chance, target.seeds)
    given = list(target.seeds)
    origin_count = len(given)
    for number in range(count):
        data = mutate(given[int(chance.random() * len(given))])[:INPUT_BYTES_MAX]
        if number % WEIGHED_EVERY == 0:
            reason = attempt(target, data)
        else:
            reason = _outcome(target, data)
        if reason is not None:
            return Failure(target.name, [data], reason, seed)
        if chance.random() < 0.02:
            if len(given) - origin_count < DESCENDANTS_MAX:
                given.append(data)
            else:
                given[origin_count + int(chance.random() * DESCENDANTS_MAX)] = data
    return None


def _outcome(target: Target, data: bytes) -> str | None:
    started_s = time.thread_time()
    try:
        target.attempt(data)
    except Exception:  # noqa: BLE001  # whatever was not declared
        return traceback.format_exc(limit=-6)
    taken_s = time.thread_time() - started_s
    return f"it took {taken_s:.1f} s" if taken_s > INPUT_CPU_S_MAX else None


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    room = pages * resource.getpagesize() + ROOM_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
