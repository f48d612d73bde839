"""What one partition keeps in the journal, and how long it holds its file open for it."""

import pytest

from riverlog.log.backing import Backing
from riverlog.log.journal import Journal, JournalLimits
from riverlog.log.segment import Segment
from riverlog.log.tail import Mark
from riverlog.stores.handles import Handles
from riverlog.stores.syncer import InlineSyncer, Job, Outcome
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk
from tests.log.journaled import ROOT, key_of, new_disk

SEGMENT = Segment(ROOT, 10)


class Told:
    """A partition that only listens."""

    def begin_sync(self) -> tuple[Job, "Told"]:
        raise AssertionError("nobody should catch up here")

    def mend(self) -> None:
        raise AssertionError("nothing is broken here")

    def __call__(self, outcome: Outcome) -> None:
        raise AssertionError("nothing was synced here")


class Scene:
    """A partition with a segment of its own, and a journal it may lean on."""

    def __init__(self, behind_max: int = 2) -> None:
        self.disk: SimulatedDisk = new_disk()
        self.disk.create(SEGMENT.path).close()
        self.handles = Handles(self.disk, 1)
        limits = JournalLimits(1_000, behind_max=behind_max)
        self.journal = Journal(self.disk, InlineSyncer(), SeededChance(0), ROOT, limits)
        self.partition = Told()
        self.backing = Backing(self.journal, key_of(0), self.partition, self.handles)
        self.backing.begin_segment(100)

    @property
    def is_behind(self) -> bool:
        return id(self.partition) in self.journal._behind

    @property
    def is_held(self) -> bool:
        return SEGMENT.path in self.handles._lent


def mark(size_bytes: int, next_offset: int) -> Mark:
    return Mark(SEGMENT, size_bytes, next_offset, 0, 0)


def test_an_entry_is_all_that_is_not_durable_at_its_place() -> None:
    scene = Scene()
    scene.backing.wrote(6, b"abc", b"def")
    scene.backing.wrote(3, b"g", b"hi")
    scene.backing.durable_to(106)
    entry = scene.backing.entry(SEGMENT)
    assert entry is not None
    assert (entry.key, entry.segment_offset, entry.position) == (key_of(0), 10, 106)
    assert b"".join(entry.parts) == b"ghi"


def test_after_a_refusal_there_is_no_entry_until_the_segment_was_synced() -> None:
    scene = Scene()
    scene.backing.wrote(3, b"a", b"bc")
    scene.backing.refuse()
    assert scene.backing.entry(SEGMENT) is None
    scene.backing.durable_to(103)
    assert scene.backing.entry(SEGMENT) is not None


def test_the_file_is_held_from_the_first_entry_to_the_sync_that_has_all() -> None:
    scene = Scene(behind_max=9)
    scene.backing.lean(SEGMENT, 1)
    scene.backing.lean(SEGMENT, 2)
    assert scene.is_behind
    assert scene.is_held
    scene.backing.synced_to(mark(200, 20), mark(300, 30), 2)
    assert scene.is_behind
    assert scene.is_held
    scene.backing.synced_to(mark(300, 30), mark(300, 30), 3)
    assert not scene.is_behind
    assert not scene.is_held


def test_the_first_file_that_is_needed_is_remembered_not_the_last() -> None:
    scene = Scene(behind_max=9)
    scene.backing.lean(SEGMENT, 1)
    scene.backing.lean(SEGMENT, 5)
    assert scene.journal._behind[id(scene.partition)][1] == 1
    scene.backing.synced_to(mark(200, 20), mark(300, 30), 4)
    assert scene.journal._behind[id(scene.partition)][1] == 4


def test_a_file_that_cannot_be_opened_is_not_leaned_on() -> None:
    scene = Scene()
    scene.disk.inject(Fault(Effect.EIO, ops=frozenset({Op.OPEN})))
    with pytest.raises(OSError, match="Input/output"):
        scene.backing.lean(SEGMENT, 1)
    assert not scene.is_behind
    assert not scene.is_held
    scene.backing.stand()


def test_one_too_many_is_not_held() -> None:
    scene = Scene(behind_max=0)
    with pytest.raises(OSError, match="too many"):
        scene.backing.lean(SEGMENT, 1)
    assert not scene.is_behind
    assert not scene.is_held


def test_whoever_stands_may_be_told_so_again() -> None:
    scene = Scene(behind_max=9)
    scene.backing.lean(SEGMENT, 1)
    scene.backing.stand()
    scene.backing.stand()
    assert not scene.is_held
