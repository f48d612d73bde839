"""The start of a log, as it is kept: it only ever moves on."""

from riverlog.log.start_offset import START_NAME, StartOffset, read_start
from riverlog.stores.memory_disk import MemoryDisk
from riverlog.stores.syncer import Done, InlineSyncer, Job, Syncer, attempt


class LateSyncer(InlineSyncer):
    """Runs work when it is told to."""

    def __init__(self) -> None:
        self._late: list[tuple[Job, Done]] = []

    def run_apart(self, job: Job, done: Done) -> None:
        self._late.append((job, done))

    def run_one(self) -> None:
        job, done = self._late.pop(0)
        done([attempt(job)])


def start_on(disk: MemoryDisk, syncer: Syncer) -> StartOffset:
    disk.make_directory("p")
    return StartOffset(disk, syncer, "p", 9)


async def test_an_earlier_start_asked_for_meanwhile_is_not_written_over_a_later_one() -> None:
    disk, syncer = MemoryDisk(), LateSyncer()
    start = start_on(disk, syncer)

    later, earlier = start.move_to(33), start.move_to(18)
    syncer.run_one()
    assert later is not None
    assert later.done()
    assert start.offset == 33
    syncer.run_one()

    assert earlier is not None
    assert earlier.done()
    assert read_start(disk, "p", lambda damage: None) == 33
    assert disk.list("p") == [START_NAME]
