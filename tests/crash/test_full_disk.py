"""A full disk refuses writes, serves reads, and goes on when there is room again, unrestarted."""

import pytest

from riverlog.testing.simulated_disk import Survival
from tests.crash.life import live_through
from tests.crash.schedule import Saga

# From too little to start with up to more than anyone asks for.
CAPACITIES = range(2_048, 40_000, 1_024)


@pytest.mark.parametrize("capacity_bytes", CAPACITIES)
def test_a_full_disk_refuses_writes_serves_reads_and_recovers(capacity_bytes: int) -> None:
    saga = Saga.begin(f"full {capacity_bytes}")
    disk, story = saga.disk, saga.story
    disk.capacity_bytes = capacity_bytes

    def make_room() -> None:
        disk.capacity_bytes = None

    has_started = live_through(disk, story, make_room)
    make_room()

    assert has_started or capacity_bytes < 5_000
    assert story.failed_reads == 0
    for survival in Survival:
        after = saga.fork(survival)
        after.cut_power(survival)
        after.verify()


def test_the_disks_tried_do_get_full() -> None:
    refusals = {}
    for capacity_bytes in CAPACITIES:
        saga = Saga.begin(f"full {capacity_bytes}")
        saga.disk.capacity_bytes = capacity_bytes
        saga.live()
        refusals[capacity_bytes] = saga.story.refusals.total()
    assert max(refusals.values()) > 20
    assert min(refusals.values()) == 0


@pytest.mark.parametrize("capacity_bytes", range(4_096, 16_000, 1_024))
def test_a_broker_starts_again_on_a_full_disk_and_serves_reads(capacity_bytes: int) -> None:
    saga = Saga.begin(f"full again {capacity_bytes}")
    saga.disk.capacity_bytes = capacity_bytes
    assert saga.live()
    assert saga.story.refusals.total() > 0
    saga.kill()
    assert saga.live()
    saga.disk.capacity_bytes = None
    saga.kill()
    saga.verify()
