"""Bugs in letting records go, put in on purpose: each must be seen by the schedules of the log."""

import asyncio
from collections.abc import Callable

import pytest

from riverlog.broker import broker
from riverlog.log import beginning, recovery
from riverlog.log.beginning import Beginning, remove_files
from riverlog.log.retention import Held, count_due
from riverlog.log.segment import Segment
from riverlog.log.settings import LogSettings
from riverlog.log.start_offset import StartOffset
from riverlog.stores.small_file import DRAFT_SUFFIX
from riverlog.testing.simulated_disk import SimulatedFile
from tests.crash.schedule import Anomalous
from tests.crash.story import SMALL_JOURNAL
from tests.crash.test_log_crashes import explore


def removes_files_before_the_start_is_durable(patch: pytest.MonkeyPatch) -> None:
    retire = Beginning.retire

    async def hurry(
        begin: Beginning, settings: LogSettings, now_ms: int, even_since_ms: int
    ) -> list[Segment]:
        first = begin._segments[0] if len(begin._segments) > 1 else None
        if first is not None and first.next_offset <= begin._end.covered_offset:
            remove_files(begin._start._disk, first.directory, [first.base_offset])
        return await retire(begin, settings, now_ms, even_since_ms)

    patch.setattr(Beginning, "retire", hurry)


def tells_of_the_start_before_it_is_durable(patch: pytest.MonkeyPatch) -> None:
    move_to = StartOffset.move_to

    def hurry(start: StartOffset, offset: int) -> asyncio.Future[None] | None:
        move_to(start, offset)
        start.offset = max(start.offset, offset)
        return None

    patch.setattr(StartOffset, "move_to", hurry)


def forgets_the_start_at_a_restart(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "read_start", lambda *_: 0)


def lets_all_go_whose_time_has_come(patch: pytest.MonkeyPatch) -> None:
    def all_due(
        segments: list[Held], settings: LogSettings, now_ms: int, start: int, end: int, _: int
    ) -> int:
        due = 0
        while more := count_due(segments[due:], settings, now_ms, start, end):
            due += more
        return due

    patch.setattr(beginning, "count_due", all_due)


def renames_small_files_without_a_sync(patch: pytest.MonkeyPatch) -> None:
    sync = SimulatedFile.sync

    def skip(file: SimulatedFile) -> None:
        if not file._path.endswith(DRAFT_SUFFIX):
            sync(file)

    patch.setattr(SimulatedFile, "sync", skip)


BUGS = (
    renames_small_files_without_a_sync,
    removes_files_before_the_start_is_durable,
    tells_of_the_start_before_it_is_durable,
    forgets_the_start_at_a_restart,
    lets_all_go_whose_time_has_come,
)


@pytest.mark.parametrize("plant", BUGS)
def test_it_is_caught(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "JOURNAL_LIMITS", SMALL_JOURNAL)
    plant(monkeypatch)
    with pytest.raises(Anomalous):
        list(map(explore, (0, 2, 4)))
