"""Every way we know to interrupt an appender, each followed by a restart and a check.

A crash point is one run that was interrupted somewhere, restarted, read back and checked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from riverlog.testing.disk_faults import CHANGES
from riverlog.testing.history import Anomaly, History, Record, check
from riverlog.testing.simulated_disk import Effect, Fault, Op, PowerCut, SimulatedDisk, Survival
from tests.crash.appender import Appender, Broken, Flaw, Frame

_PARTITION = "log"
_CRASHES = (Effect.CRASH_BEFORE, Effect.CRASH_AFTER)
_SYNCS = frozenset({Op.SYNC})
_PADDING_SIZES = (0, 20, 200, 600, 1500)
_RECORDS = {"first": 13, "second": 3, "only reading": 0, "last": 3}
"""How many records each process of a run appends."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a run was interrupted, and what came of it."""

    seed: int
    told: str
    anomalies: tuple[Anomaly, ...]

    def describe(self) -> str:
        found = " ".join(anomaly.describe() for anomaly in self.anomalies)
        return f"seed {self.seed}, {self.told}: {found or 'no anomaly.'}"


class CrashPoints:
    """The crash points of one workload; the seed decides which records it appends and when.

    Iterating gives the same points in the same order for the same seed.
    """

    def __init__(self, seed: int, flaw: Flaw | None = None) -> None:
        self._seed = seed
        self._flaw = flaw
        self._serial = 0
        whole, _ = self._interrupted()
        self._changes = [op for op, _ in whole.trace if op in CHANGES]
        self._boundaries = list(product(range(1, len(self._changes) + 1), _CRASHES))

    def __iter__(self) -> Iterator[Point]:
        yield from self._power_cuts()
        yield from self._power_cuts_after_kills()
        yield from self._power_cuts_in_recovery()
        yield from self._failed_syncs()
        yield from self._failed_calls()

    def _power_cuts(self) -> Iterator[Point]:
        for n, effect in self._boundaries:
            disk, history = self._interrupted(Fault(effect, at=n))
            for survival in Survival:
                yield self._checked(disk, history, survival, f"{effect.value} change {n}")

    def _power_cuts_after_kills(self) -> Iterator[Point]:
        for n, effect in self._boundaries:
            killed, seen = self._interrupted(Fault(effect, at=n))
            for survival in (Survival.NOTHING, Survival.RANDOM, Survival.TORN):
                m = self._chance().randint(1, 20)
                disk, history = killed.copy(self._chance()), History(seen.events)
                self._work(disk, history, "second", Fault(Effect.CRASH_AFTER, at=m))
                told = f"kill {effect.value[6:]} change {n}, crash after change {m}"
                yield self._checked(disk, history, survival, told)
            disk, history = killed.copy(self._chance()), History(seen.events)
            self._work(disk, history, "only reading")
            told = f"kill {effect.value[6:]} change {n}, read"
            yield self._checked(disk, history, Survival.NOTHING, told)

    def _power_cuts_in_recovery(self) -> Iterator[Point]:
        for n in range(1, len(self._changes) + 1):
            cut, seen = self._interrupted(Fault(Effect.CRASH_AFTER, at=n))
            for first, second in product((Survival.RANDOM, Survival.TORN), Survival):
                m = self._chance().randint(1, 10)
                disk, history = cut.copy(self._chance()).power_cut(first), History(seen.events)
                history.power_lost()
                self._work(disk, history, "second", Fault(Effect.CRASH_AFTER, at=m))
                told = f"crash after change {n}, {first} survives, crash after change {m}"
                yield self._checked(disk, history, second, told)

    def _failed_syncs(self) -> Iterator[Point]:
        syncs = [n for n, op in enumerate(self._changes, 1) if op is Op.SYNC]
        for n, sync in enumerate(syncs, 1):
            for m in (sync + 1, sync + 2, sync + self._chance().randint(3, 12)):
                failed, seen = self._interrupted(
                    Fault(Effect.EIO, at=n, ops=_SYNCS), Fault(Effect.CRASH_BEFORE, at=m)
                )
                told = f"EIO at change {sync}, crash before change {m}"
                for survival in Survival:
                    yield self._checked(failed, seen, survival, told)
                    disk, history = failed.copy(self._chance()), History(seen.events)
                    self._work(disk, history, "second")
                    yield self._checked(disk, history, survival, f"{told}, kill")

    def _failed_calls(self) -> Iterator[Point]:
        for n, effect in product(range(1, len(self._changes) + 1), (Effect.EIO, Effect.ENOSPC)):
            disk, history = self._interrupted(Fault(effect, at=n))
            for survival in Survival:
                yield self._checked(disk, history, survival, f"{effect.name} at change {n}")

    def _interrupted(self, *faults: Fault) -> tuple[SimulatedDisk, History]:
        disk, history = SimulatedDisk(Random(self._seed)), History()
        self._work(disk, history, "first", *faults)
        return disk, history

    def _checked(
        self, disk: SimulatedDisk, history: History, survival: Survival, told: str
    ) -> Point:
        """The power goes and comes back, and a last process reads everything and goes on."""
        restarted, seen = disk.copy(self._chance()).power_cut(survival), History(history.events)
        seen.power_lost()
        self._work(restarted, seen, "last")
        return Point(self._seed, f"{told}, {survival} survives", tuple(check(seen)))

    def _work(self, disk: SimulatedDisk, history: History, process: str, *faults: Fault) -> None:
        """One process from its start to its end, or to where a fault ends it."""
        for fault in faults:
            disk.inject(fault)
        try:
            _append_some(disk, history, process, Random(f"{process} {self._seed}"), self._flaw)
        except (PowerCut, Broken):
            pass
        except OSError:
            if not faults:
                raise

    def _chance(self) -> Random:
        self._serial += 1
        return Random(self._seed * 1_000_003 + self._serial)


def _append_some(
    disk: SimulatedDisk, history: History, process: str, chance: Random, flaw: Flaw | None
) -> None:
    appender = Appender(
        disk, lambda frame: history.acknowledged(_record(frame).record_id, frame.offset), flaw
    )
    history.read_back(_PARTITION, map(_record, appender.read()))
    for number in range(_RECORDS[process]):
        record_id = f"{process} {number}"
        padding = chance.randbytes(chance.choice(_PADDING_SIZES))
        payload = record_id.encode() + b":" + padding
        history.sent(record_id, _PARTITION, payload)
        try:
            appender.append(payload)
        except OSError:
            history.refused(record_id)
        if chance.random() < 0.5:
            appender.commit()
        if chance.random() < 0.2:
            for frame in appender.read():
                history.consumed("reader", _PARTITION, _record(frame))
    if _RECORDS[process]:
        appender.commit()
    history.read_back(_PARTITION, map(_record, appender.read()))


def _record(frame: Frame) -> Record:
    return Record(frame.offset, frame.payload.partition(b":")[0].decode("latin-1"), frame.payload)
