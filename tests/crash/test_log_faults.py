"""The log on a disk whose calls fail: once, for a while, in one place or everywhere.

A failed sync has spoilt the pages it should have kept, as Linux does it. After the fault everything
must work again without a restart, and what is answered from then on must outlive a power cut.
"""

import pytest

from riverlog.broker import broker
from riverlog.log import producers
from riverlog.testing.disk_faults import CHANGES
from riverlog.testing.simulated_disk import Effect, Fault, Op, Survival
from tests.crash.life import live_through
from tests.crash.schedule import Anomalous, Saga
from tests.crash.story import SMALL_JOURNAL, TOPIC
from tests.crash.test_log_crashes import lean_on_the_journal

CALLS = 320
CHUNKS = 10
ERRORS = (Effect.EIO, Effect.ENOSPC)
FAULTS = ((Effect.EIO, 1), (Effect.EIO, 4), (Effect.ENOSPC, 1), (Effect.ENOSPC, 25))


@pytest.fixture(autouse=True)
def _few_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that files are opened again all the time, and opening can fail, too."""
    monkeypatch.setattr(broker, "OPEN_FILES_MAX", 2)
    monkeypatch.setattr(broker, "JOURNAL_LIMITS", SMALL_JOURNAL)


def live_with(fault: Fault, seed: str) -> Saga:
    """A life with a fault in it, and what is left of it after a power cut."""
    saga = Saga.begin(seed)
    try:
        saga.disk.inject(fault)
        live_through(saga.disk, saga.story, saga.disk.clear_faults)
    except AssertionError as error:
        raise Anomalous(f"seed {seed}: {error}") from error
    chance = saga.story.chance
    for survival in (Survival.NOTHING, list(Survival)[1 + chance.below(3)]):
        after = saga.fork(survival)
        after.cut_power(survival)
        after.verify()
    return saga


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_call_that_fails_costs_nothing_that_was_promised(chunk: int) -> None:
    for at in range(1 + chunk, CALLS + 1, CHUNKS):
        for effect, times in FAULTS:
            fault = Fault(effect, at, times, frozenset(Op))
            live_with(fault, f"fault {at} {effect.name} {times}")


@pytest.mark.parametrize("at", range(1, 41))
def test_what_a_segment_fails_to_keep_is_saved_from_the_journal(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lean_on_the_journal(monkeypatch)
    for times in (1, 3, 25):
        syncs = frozenset({Op.SYNC})
        live_with(Fault(Effect.EIO, at, times, syncs, fits=_is_segment), f"save {at} {times}")


@pytest.mark.parametrize("at", range(1, 41))
def test_a_journal_that_fails_costs_nothing_but_time(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lean_on_the_journal(monkeypatch)
    for times in (1, 3, None):
        fault = Fault(Effect.EIO, at, times, frozenset(Op), fits=lambda path: "/journal" in path)
        live_with(fault, f"journal {at} {times}")


@pytest.mark.parametrize("op", sorted(Op))
def test_a_kind_of_call_that_always_fails_stops_nothing_for_good(op: Op) -> None:
    for effect in ERRORS:
        for at in (1, 3, 9, 27):
            live_with(Fault(effect, at, None, frozenset({op})), f"always {op} {effect.name} {at}")


@pytest.mark.parametrize("at", range(1, 60, 7))
def test_reads_go_on_while_every_write_fails(at: int) -> None:
    saga = live_with(Fault(Effect.EIO, 60 + at, None, CHANGES), f"read on {at}")
    assert saga.story.failed_reads == 0


@pytest.mark.parametrize("at", range(1, 12))
def test_other_partitions_go_on(at: int) -> None:
    broken = Fault(Effect.EIO, at, None, frozenset(Op), fits=lambda path: "/0/" in path)

    saga = live_with(broken, f"others {at}")

    assert saga.story.refusals[f"{TOPIC}-0"] > 0
    assert saga.story.refusals[f"{TOPIC}-1"] == 0


def test_to_call_out_of_order_what_follows_a_refused_batch_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(producers, "_check_refused", lambda *_: None)

    def fail_somewhere() -> None:
        for at in range(1, CALLS + 1, CHUNKS):
            live_with(Fault(Effect.EIO, at, 4, frozenset(Op)), f"gap {at}")

    with pytest.raises(Anomalous, match="pipelined gave up"):
        fail_somewhere()


def _is_segment(path: str) -> bool:
    return "/topics/" in path and ".log" in path
