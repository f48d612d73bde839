"""Checkpoints bound recovery, however small segments are, and wherever a broker stops."""

import errno
from random import Random

import pytest

from riverlog.log.errors import StorageFailed
from riverlog.log.settings import LogSettings
from riverlog.testing.simulated_disk import Effect, Fault, Op, SimulatedDisk
from tests.log.logs import append, batch_of, open_log, read_all, write

SMALL = LogSettings(segment_bytes=500, checkpoint_bytes=2_000)


def reads(disk: SimulatedDisk) -> int:
    return sum(1 for op, path in disk.trace if op is Op.READ and path.endswith(".log"))


async def test_segments_smaller_than_a_checkpoint_do_not_put_it_off() -> None:
    disk = SimulatedDisk(Random(1))
    log = open_log(disk, settings=SMALL)
    for number in range(200):
        await append(log, b"%d" % number * 20)
    after = disk.process_crash()

    again = open_log(after, epoch=2, settings=SMALL)

    assert len([name for name in after.list("log") if name.endswith(".log")]) > 40
    assert reads(after) <= 2 * SMALL.checkpoint_bytes / SMALL.segment_bytes + 2
    assert again.high_watermark == 200
    assert len(read_all(again)) == 200


async def test_a_stop_right_after_a_roll_is_as_clean_as_any() -> None:
    disk = SimulatedDisk(Random(1))
    settings = LogSettings(segment_records=1)
    log = open_log(disk, settings=settings)
    await append(log, b"one")
    disk.inject(Fault(Effect.ENOSPC, ops=frozenset({Op.CREATE}), fits=lambda p: p.endswith(".log")))
    with pytest.raises(StorageFailed):
        write(log, batch_of(b"two"))
    log.close()
    after = disk.process_crash()

    again = open_log(after, epoch=2, settings=settings)

    assert reads(after) == 0
    assert again.high_watermark == 1


async def test_the_disk_is_complained_of_once_and_again_after_it_has_recovered() -> None:
    disk = SimulatedDisk(Random(1))
    told: list[int | None] = []
    log = open_log(disk, trouble=lambda _directory, error: told.append(error.errno))
    await append(log, b"one")
    full = Fault(Effect.ENOSPC, times=None, ops=frozenset({Op.WRITE}))

    for _ in range(2):
        disk.inject(full)
        for _ in range(3):
            with pytest.raises(StorageFailed):
                write(log, batch_of(b"two"))
        disk.clear_faults()
        await append(log, b"three")

    assert told == [errno.ENOSPC, errno.ENOSPC]
