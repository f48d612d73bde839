"""The start of a log, asked for twice at a time: no crash takes back what was told of it."""

from contextlib import suppress
from random import Random

import pytest

from riverlog.log.damage import Damage
from riverlog.log.start_offset import START_NAME, StartOffset, read_start
from riverlog.testing.simulated_disk import Effect, Fault, PowerCut, SimulatedDisk, Survival
from tests.log.test_start_offset import LateSyncer

DIRECTORY = "partition"
# Each time somebody deletes records, and retention asks for less while that is written.
WANTED = ((33, 18), (40, 35), (41, 41))


@pytest.mark.parametrize("effect", [Effect.CRASH_BEFORE, Effect.CRASH_AFTER, Effect.EIO])
async def test_a_start_that_was_told_never_goes_back(effect: Effect) -> None:
    at, is_over = 1, False
    while not is_over:
        disk = SimulatedDisk(Random(at))
        disk.make_directory(DIRECTORY)
        disk.sync_directory("")
        calls = disk.changes
        disk.inject(Fault(effect, at))
        told = _move(disk)
        is_over = disk.changes - calls < at
        for survival in (*Survival, None):
            chance = disk.copy(Random(at))
            after = chance.process_crash() if survival is None else chance.power_cut(survival)
            found = _start_on(after)
            assert found >= told, (at, survival)
            assert found in {0, 33, 40, 41}
        at += 1
    assert told == 41
    assert at > 15


def _move(disk: SimulatedDisk) -> int:
    """Moves the start again and again, two moves at a time; the last that anybody was told."""
    syncer = LateSyncer()
    start = StartOffset(disk, syncer, DIRECTORY, 0)
    with suppress(PowerCut):
        for pair in WANTED:
            moves = [moved for offset in pair if (moved := start.move_to(offset)) is not None]
            while not all(moved.done() for moved in moves):
                syncer.run_one()
            for moved in moves:
                moved.exception()
    return start.offset


def _start_on(disk: SimulatedDisk) -> int:
    if START_NAME not in disk.list(DIRECTORY):
        return 0
    return read_start(disk, DIRECTORY, _unexpected)


def _unexpected(damage: Damage) -> None:
    raise AssertionError(f"damage where there should be none: {damage}")
