"""The log under power cuts, torn writes and killed processes, at every n-th change of the disk.

A failure names its seed. `RIVERLOG_SEED=… pytest tests/crash/test_log_crashes.py` plays it again,
and once understood it goes into `KNOWN_SEEDS`.
"""

import os
from random import Random, SystemRandom

import pytest

from riverlog.broker import broker
from riverlog.log import commit
from tests.crash import life
from tests.crash.schedule import Saga, points_of
from tests.crash.story import SMALL_JOURNAL

POINTS = 10_000
CHUNKS = 20
# The last ones send everything through the journal that may go there.
JOURNALED_CHUNKS = range(12, CHUNKS)
POINTS_PER_CHUNK = POINTS // CHUNKS

# Seeds that once failed; the first chunks begin with them.
KNOWN_SEEDS = ("a", "b", "c")
FRESH_SEED = os.environ.get("RIVERLOG_SEED", "")


@pytest.fixture(autouse=True)
def _few_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that handles are closed and opened again all the time."""
    monkeypatch.setattr(broker, "OPEN_FILES_MAX", 2)
    monkeypatch.setattr(broker, "JOURNAL_LIMITS", SMALL_JOURNAL)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_crash_loses_doubles_or_changes_anything(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if chunk in JOURNALED_CHUNKS:
        lean_on_the_journal(monkeypatch)
    tried = explore(chunk)
    print(f"{tried} crash points")  # noqa: T201 - pytest -rP shows it.
    assert tried >= POINTS_PER_CHUNK


def test_the_chunks_make_ten_thousand_points() -> None:
    assert CHUNKS * POINTS_PER_CHUNK >= 10_000


def lean_on_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round with a single partition goes there, too, and segments are left alone for longer."""
    monkeypatch.setattr(commit, "JOURNALED_PARTITIONS_MIN", 1)
    settings = life.SETTINGS._replace(segment_bytes=6_000)
    monkeypatch.setattr(life, "SETTINGS", settings)


def explore(chunk: int) -> int:
    """Tries one chunk's crash points and counts them; raises `Anomalous` at the first bad one."""
    seed = _seed_of(chunk)
    tried = 0
    for at in _places(seed):
        tried += sum(1 for _ in points_of(seed, at))
        if tried >= POINTS_PER_CHUNK:
            break
    return tried


def _seed_of(chunk: int) -> str:
    """Even chunks are the same every day, odd ones never, unless they are asked for."""
    if chunk % 2 == 0:
        return KNOWN_SEEDS[chunk // 2] if chunk // 2 < len(KNOWN_SEEDS) else f"chunk {chunk}"
    return f"{FRESH_SEED or SystemRandom().randrange(1 << 32)}"


def _places(seed: str) -> list[int]:
    """Before and after every change of a first life, in any order."""
    whole = Saga.begin(seed)
    whole.live()
    places = list(range(1, 2 * whole.disk.changes + 1))
    Random(seed).shuffle(places)
    return places
