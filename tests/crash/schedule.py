"""Crash points: where a broker's lives end, what the disk keeps, and whether all is well after."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from riverlog.log.damage import Damage
from riverlog.testing.history import check
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk, Survival
from riverlog.testing.simulated_syncer import SimulatedSyncer
from tests.crash.life import MakeSyncer, live, read_back
from tests.crash.story import Story

# Opening a log after a crash takes about so many calls; the later ones are everyday work.
RECOVERY_CALLS = 40
LIFE_CALLS = 250

# Of a torn end it is right to say so; but no crash makes a segment vanish.
SEGMENT_MISSING = "the segment is missing"


class Anomalous(AssertionError):
    """A crash after which something was lost, doubled, changed or reordered; or an exception."""


@dataclass(slots=True)
class Saga:
    """A story with the disk it plays on."""

    story: Story
    disk: SimulatedDisk
    make_syncer: MakeSyncer = SimulatedSyncer

    @classmethod
    def begin(cls, seed: int | str, make_syncer: MakeSyncer = SimulatedSyncer) -> "Saga":
        return cls(Story.begin(seed), SimulatedDisk(Random(f"disk {seed}")), make_syncer)

    def fork(self, name: str) -> "Saga":
        story = self.story.fork(name)
        return Saga(story, self.disk.copy(Random(f"disk {story.seed}")), self.make_syncer)

    def live(self, *faults: Fault) -> bool:
        """One life of a broker; False if one of `faults` ended it."""
        for fault in faults:
            self.disk.inject(fault)
        with self._named():
            return live(self.disk, self.story, self.make_syncer)

    def cut_power(self, survival: Survival) -> None:
        self.story.history.power_lost()
        self.disk = self.disk.power_cut(survival)

    def kill(self) -> None:
        self.disk = self.disk.process_crash()

    def verify(self) -> None:
        """Reads everything back, twice: what was seen once must outlive any power cut."""
        with self._named():
            read_back(self.disk, self.story, self.make_syncer)
            self.cut_power(Survival.NOTHING)
            read_back(self.disk, self.story, self.make_syncer)
        anomalies = [anomaly.describe() for anomaly in check(self.story.history)]
        anomalies += [str(damage) for damage in self.story.damages if _is_of_durable(damage)]
        lost = [damage for damage in self.story.damages if damage.reason == SEGMENT_MISSING]
        if lost:
            raise Anomalous(f"seed {self.story.seed}: {lost[:3]}")
        errors = self.story.errors
        if anomalies or errors:
            cause = errors[0] if errors else None
            raise Anomalous(f"seed {self.story.seed}: {anomalies[:5]} {errors[:3]}") from cause

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Lets whatever goes wrong say where."""
        try:
            yield
        except Exception as error:
            raise Anomalous(f"seed {self.story.seed}: {error!r}") from error


def points_of(seed: int | str, at: int, make_syncer: MakeSyncer = SimulatedSyncer) -> Iterator[str]:
    """Every way on from a first life that ends at its `at`-th change; each is one crash point.

    Raises `Anomalous` at the first that goes wrong. The names say what was done, in order.
    """
    effect = Effect.CRASH_BEFORE if at % 2 else Effect.CRASH_AFTER
    first = Saga.begin(seed, make_syncer)
    first.live(Fault(effect, at=(at + 1) // 2))
    for survival in Survival:
        saga = first.fork(f"{at}/power {survival}")
        saga.cut_power(survival)
        saga.verify()
        yield saga.story.seed
    saga = first.fork(f"{at}/kill")
    saga.kill()
    saga.verify()
    yield saga.story.seed
    for name, calls in (("recovery", RECOVERY_CALLS), ("second life", LIFE_CALLS)):
        saga = first.fork(f"{at}/{name}")
        _live_on(saga, calls)
        saga.verify()
        yield saga.story.seed
    saga = first.fork(f"{at}/failing calls")
    chance = saga.story.chance
    failing = Fault(Effect.EIO, chance.between(1, LIFE_CALLS), chance.between(1, 20), frozenset(Op))
    _live_on(saga, LIFE_CALLS, failing)
    saga.verify()
    yield saga.story.seed
    saga = first.fork(f"{at}/three lives")
    _live_on(saga, LIFE_CALLS)
    _live_on(saga, LIFE_CALLS)
    saga.verify()
    yield saga.story.seed


def _live_on(saga: Saga, calls: int, *faults: Fault) -> None:
    """The process or the power goes; the next life, too, ends at one of its first `calls`."""
    _end(saga)
    chance = saga.story.chance
    effect = Effect.CRASH_BEFORE if chance.happens(0.5) else Effect.CRASH_AFTER
    saga.live(*faults, Fault(effect, at=chance.between(1, calls)))
    _end(saga)


def _end(saga: Saga) -> None:
    chance = saga.story.chance
    if chance.happens(0.5):
        saga.kill()
    else:
        saga.cut_power(list(Survival)[chance.below(len(Survival))])


def _is_of_durable(damage: Damage) -> bool:
    """Whether the journal lost what was durable: no end of a process or of the power does that."""
    return ".journal" in damage.path and damage.kept_in.endswith(".damaged")
