"""Bugs put into the journal on purpose, each seen by schedules that it passes unchanged.

More of them are in `test_planted_bugs.py`; most of these need a disk that fails, too.
"""

from collections.abc import Callable

import pytest

from riverlog.broker import broker
from riverlog.log import journal, journal_frames, replay
from riverlog.log.backing import Backing
from riverlog.log.checkpoint import Seal
from riverlog.log.commit import Committed, GroupCommit
from riverlog.log.damage import Report
from riverlog.log.journal import Backed, Journal
from riverlog.log.recovery import read_seal
from riverlog.log.segment import Segment
from riverlog.log.tail import Mark
from riverlog.records.crc import crc32c
from riverlog.stores.disk import Disk
from riverlog.stores.syncer import Job, attempt
from tests.crash.story import SMALL_JOURNAL
from tests.crash.test_journal_damage import SCENES, check, flips
from tests.crash.test_journal_faults import fail_and_die
from tests.crash.test_journal_order import watch_frames
from tests.crash.test_log_crashes import lean_on_the_journal

Plant = Callable[[pytest.MonkeyPatch], None]
Schedule = Callable[[], object]

BUGS: dict[str, tuple[Plant, Schedule]] = {}


def failing_syncs() -> None:
    """A segment whose sync fails, and death soon after it."""
    list(map(fail_and_die, range(40)))


def damage() -> None:
    """A changed byte in a journal that has what the segments lost."""
    scene = SCENES["power lost"]()
    for damaged in list(flips(scene))[::50]:
        check(scene, damaged)


def bug(schedule: Schedule) -> Callable[[Plant], Plant]:
    def note(plant: Plant) -> Plant:
        BUGS[plant.__name__.strip("_")] = plant, schedule
        return plant

    return note


@bug(failing_syncs)
def _catching_up_ignores_a_failed_sync(patch: pytest.MonkeyPatch) -> None:
    def ignore(job: Job) -> None:
        attempt(job)

    patch.setattr(journal, "attempt", ignore)


@bug(failing_syncs)
def _replay_brings_back_what_a_seal_gave_up(patch: pytest.MonkeyPatch) -> None:
    def forgive(disk: Disk, segment: Segment, report: Report) -> Seal | None:
        seal = read_seal(disk, segment, report)
        return None if seal is None else seal._replace(resume_offset=seal.next_offset)

    patch.setattr(replay, "read_seal", forgive)


@bug(failing_syncs)
def _replay_writes_behind_seals(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(replay, "read_seal", lambda *_: None)


@bug(failing_syncs)
def _mending_forgets_what_only_the_journal_had(patch: pytest.MonkeyPatch) -> None:
    def forget(_backing: Backing, _synced: Mark, _durable: Mark) -> bytes:
        return b""

    patch.setattr(Backing, "rescued", forget)


class _Agreeing(int):
    """A checksum that fits whatever it is held against."""

    def __ne__(self, other: object) -> bool:
        return False


@bug(damage)
def _replay_believes_every_frame(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(journal_frames, "crc32c", lambda data: _Agreeing(crc32c(data)))


@bug(watch_frames)
def _a_frame_is_written_before_the_last_one_is_durable(patch: pytest.MonkeyPatch) -> None:
    request = GroupCommit.request

    def hurry(commit: GroupCommit, partition: Committed) -> None:
        commit._is_running = False
        request(commit, partition)

    patch.setattr(GroupCommit, "request", hurry)


@bug(failing_syncs)
def _trims_the_file_that_is_still_needed(patch: pytest.MonkeyPatch) -> None:
    leans = Journal.leans

    def skip(journal: Journal, partition: Backed, number: int) -> None:
        leans(journal, partition, number + 1)

    patch.setattr(Journal, "leans", skip)


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_in_the_journal_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "JOURNAL_LIMITS", SMALL_JOURNAL)
    lean_on_the_journal(monkeypatch)
    plant, schedule = BUGS[name]
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        schedule()
