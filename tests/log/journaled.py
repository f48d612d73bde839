"""Partitions that share a journal, on any disk, with a syncer that waits where a test wants it."""

import asyncio
from collections.abc import Sequence
from random import Random

from riverlog.log.commit import GroupCommit
from riverlog.log.damage import Damage, Report
from riverlog.log.journal import DIRECTORY_NAME, FILE_SUFFIX, Journal, JournalLimits
from riverlog.log.partition import Partition
from riverlog.log.replay import Replay, Replayed
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared, Trouble, no_trouble
from riverlog.stores.disk import Disk
from riverlog.stores.handles import Handles
from riverlog.stores.syncer import Done, InlineSyncer, Job, Syncer, attempt
from riverlog.testing.seeded_chance import SeededChance
from riverlog.testing.simulated_disk import SimulatedDisk
from tests.log.logs import batch_of, write

ROOT = "data"
JOURNAL = f"{ROOT}/{DIRECTORY_NAME}"
LIMITS = JournalLimits(file_bytes=2_000, files_max=4)
TURNS = 8


class PatientSyncer:
    """Runs nothing before a test says so: neither rounds nor work apart from them.

    While it is not `is_patient` it runs everything at once.
    """

    def __init__(self, *, is_patient: bool = True) -> None:
        self.is_patient = is_patient
        self.rounds: list[tuple[list[Job], Done]] = []
        self.apart: list[tuple[Job, Done]] = []

    def run(self, jobs: Sequence[Job], done: Done, *, is_awaited: bool = True) -> None:
        if self.is_patient:
            self.rounds.append((list(jobs), done))
        else:
            done([attempt(job) for job in jobs])

    def run_apart(self, job: Job, done: Done) -> None:
        if self.is_patient:
            self.apart.append((job, done))
        else:
            done([attempt(job)])

    def close(self) -> None:
        pass

    async def finish_round(self) -> None:
        """Lets the round that has begun, or is about to, run to its end."""
        await settle()
        jobs, done = self.rounds.pop(0)
        done([attempt(job) for job in jobs])
        await settle()

    def finish_apart(self) -> None:
        """Lets the work run that was handed over first."""
        job, done = self.apart.pop(0)
        done([attempt(job)])

    async def finish_all(self) -> None:
        """Lets everything run, and what follows from it."""
        await settle()
        while self.rounds or self.apart:
            while self.apart:
                self.finish_apart()
            if self.rounds:
                await self.finish_round()
            await settle()


class Journaled:
    """A few partitions and the journal they share, as a broker would have made them."""

    def __init__(
        self,
        disk: Disk,
        count: int = 2,
        *,
        syncer: Syncer | None = None,
        limits: JournalLimits = LIMITS,
        settings: LogSettings | None = None,
        open_max: int = 8,
        epoch: int = 1,
        report: Report | None = None,
        trouble: Trouble = no_trouble,
    ) -> None:
        syncer = syncer or InlineSyncer()
        self.disk = disk
        self.handles = Handles(disk, open_max)
        self.journal = Journal(disk, syncer, SeededChance(f"salts {epoch}"), ROOT, limits)
        self.commit = GroupCommit(syncer, self.journal)
        report = report or unexpected
        shared = Shared(disk, self.handles, self.commit, syncer, report, trouble, self.journal)
        self.logs = [
            Partition(
                shared,
                [ROOT, directory_of(key_of(index))],
                settings or LogSettings(),
                leader_epoch=epoch,
                epoch_max=epoch - 1,
                journal_key=key_of(index),
            )
            for index in range(count)
        ]

    def write(self, value: bytes, *indexes: int) -> None:
        """One batch to each of these partitions, or to all, in one turn: they share a round."""
        for index in indexes or range(len(self.logs)):
            write(self.logs[index], batch_of(b"%b to %d" % (value, index)))

    async def send(self, value: bytes, *indexes: int) -> None:
        """Like `write`; all of it is durable, one way or another, when this returns."""
        self.write(value, *indexes)
        await self.commit.idle()

    async def lean(self, *values: bytes) -> None:
        """Writes until only the journal has these values, on a syncer that does not wait."""
        await self.send(b"opening")
        await self.send(b"synced")
        for value in values:
            await self.send(value)

    async def close(self) -> None:
        """As a broker closes them."""
        await self.commit.idle()
        await self.journal.idle()
        for log in self.logs:
            log.close()
        self.journal.close()
        self.handles.close()


def new_disk(seed: int = 0) -> SimulatedDisk:
    """A disk with an empty data directory."""
    disk = SimulatedDisk(Random(seed))
    disk.make_directory(ROOT)
    disk.sync_directory("")
    return disk


def journal_files(disk: Disk) -> list[str]:
    """The names of the journal's files, in order."""
    if not disk.exists(JOURNAL):
        return []
    return [name for name in disk.list(JOURNAL) if name.endswith(FILE_SUFFIX)]


def replay(disk: Disk, report: Report | None = None) -> Replayed:
    """What a broker does before it opens a partition."""
    return Replay(disk, ROOT, directory_of, report or unexpected).run()


def reopened(
    disk: Disk, count: int = 2, *, epoch: int = 9, report: Report | None = None
) -> Journaled:
    """The next life: what the journal kept is put back, then the partitions are opened."""
    replay(disk, report)
    return Journaled(disk, count, epoch=epoch, report=report)


def key_of(index: int) -> bytes:
    """The key of a partition in the journal."""
    return b"%019d" % 0 + bytes([index])


def directory_of(key: bytes) -> str:
    return f"{ROOT}/{key[-1]}"


def unexpected(damage: Damage) -> None:
    """For logs that are not damaged."""
    raise AssertionError(f"damage where there should be none: {damage}")


async def settle() -> None:
    """Gives everything in the loop a chance to go on."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
