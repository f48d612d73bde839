"""What fails, when, and what a failure leaves on the simulated disk."""

import errno
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from riverlog.stores.disk import opened
from riverlog.testing.simulated_disk import (
    Effect,
    Fault,
    Op,
    PowerCut,
    SimulatedDisk,
    SimulatedFile,
    Survival,
)
from tests.testing.disks import SEEDS, durable, get, new_disk, put

WRITES = frozenset({Op.WRITE})
SYNCS = frozenset({Op.SYNC})


def test_a_failed_sync_loses_what_reads_still_show_and_the_next_sync_proves_nothing() -> None:
    lost = 0
    for seed in SEEDS:
        disk = durable(seed, a=b"old")
        disk.inject(Fault(Effect.EIO, ops=SYNCS))
        file = disk.open("a")
        file.write(0, b"new")
        with pytest.raises(OSError, match="Input/output error"):
            file.sync()
        file.sync()
        assert file.read(0, 3) == b"new"
        lost += get(disk.power_cut(Survival.EVERYTHING), "a") == b"old"
    assert 0 < lost < len(SEEDS)


def test_a_failed_sync_takes_nothing_that_was_synced_before() -> None:
    for seed in SEEDS:
        disk = durable(seed, a=b"old")
        file = disk.open("a")
        file.write(0, b"new")
        file.sync()
        disk.inject(Fault(Effect.EIO, ops=SYNCS))
        with pytest.raises(OSError):
            file.sync()
        assert get(disk.power_cut(Survival.NOTHING), "a") == b"new"


def test_what_a_failed_sync_lost_stays_lost_for_the_next_process_unless_written_again() -> None:
    for rewrite in (False, True):
        kept = 0
        for seed in SEEDS:
            disk = durable(seed, a=b"old")
            disk.inject(Fault(Effect.EIO, ops=SYNCS))
            file = disk.open("a")
            file.write(0, b"new")
            with pytest.raises(OSError):
                file.sync()
            disk = disk.process_crash()
            with opened(disk.open("a")) as file_again:
                if rewrite:
                    file_again.write(0, file_again.read(0, 3))
                file_again.sync()
            kept += get(disk.power_cut(Survival.NOTHING), "a") == b"new"
        assert (kept == len(SEEDS)) == rewrite


def test_what_a_failed_truncate_could_not_write_back_the_next_sync_tells_once() -> None:
    for seed in SEEDS:
        disk, file = _with_untold_failure(seed)
        with pytest.raises(OSError, match="Input/output error"):
            file.sync()
        file.sync()
        disk.open("a").sync()


def test_a_failure_that_nobody_was_told_of_is_told_to_the_next_who_opens_the_file() -> None:
    for seed in SEEDS:
        disk, file = _with_untold_failure(seed)
        later = disk.open("a")
        for one in (later, file):
            with pytest.raises(OSError, match="Input/output error"):
                one.sync()
        disk.process_crash().open("a").sync()


def test_a_failure_is_told_to_the_next_process_too() -> None:
    disk, _ = _with_untold_failure(0)
    with pytest.raises(OSError, match="Input/output error"):
        disk.process_crash().open("a").sync()


def test_of_a_file_that_nobody_has_open_a_failure_may_be_forgotten() -> None:
    forgotten = 0
    for seed in SEEDS:
        disk, file = _with_untold_failure(seed)
        file.close()
        with suppress(OSError):
            disk.open("a").sync()
            forgotten += 1
    assert 0 < forgotten < len(SEEDS)


def _with_untold_failure(seed: int) -> tuple[SimulatedDisk, SimulatedFile]:
    disk = durable(seed, a=b"old")
    file = disk.open("a")
    file.write(0, b"new")
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.TRUNCATE})))
    with pytest.raises(OSError, match="Input/output error"):
        file.truncate(2)
    return disk, file


def test_a_failed_directory_sync_leaves_the_names_to_the_next_one() -> None:
    disk = new_disk()
    put(disk, "a", b"x", sync=True)
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.SYNC_DIRECTORY})))
    with pytest.raises(OSError):
        disk.sync_directory("/")
    assert disk.copy(Random(0)).power_cut(Survival.NOTHING).list("/") == []
    disk.sync_directory("/")
    assert disk.power_cut(Survival.NOTHING).list("/") == ["a"]


@pytest.mark.parametrize(
    ("effect", "code"), [(Effect.EIO, errno.EIO), (Effect.ENOSPC, errno.ENOSPC)]
)
def test_a_failed_write_may_have_written_a_part(effect: Effect, code: int) -> None:
    sizes = set()
    for seed in SEEDS:
        disk = new_disk(seed)
        disk.inject(Fault(effect, ops=WRITES))
        with opened(disk.create("a")) as file:
            with pytest.raises(OSError) as caught:
                file.write(0, b"abcd")
            assert caught.value.errno == code
            sizes.add(file.size())
            assert file.read(0, 9) == b"abcd"[: file.size()]
    assert sizes == {0, 1, 2, 3}


def test_a_call_that_fails_changes_no_name() -> None:
    disk = durable(a=b"x")
    disk.make_directory("d")
    disk.inject(Fault(Effect.ENOSPC, times=None))
    calls: list[Callable[[], object]] = [
        lambda: disk.create("b"),
        lambda: disk.rename("a", "b"),
        lambda: disk.link("a", "b"),
        lambda: disk.remove("a"),
        lambda: disk.make_directory("e"),
        lambda: disk.remove_directory("d"),
    ]
    for call in calls:
        with pytest.raises(OSError, match="No space left"):
            call()
    assert disk.list("/") == ["a", "d"]
    with opened(disk.open("a")) as file:
        with pytest.raises(OSError, match="No space left"):
            file.truncate(0)
        assert file.size() == 1
    disk.clear_faults()
    disk.remove("a")


def test_a_fault_strikes_the_nth_fitting_call_and_as_often_as_told() -> None:
    disk = new_disk()
    disk.inject(Fault(Effect.EIO, at=2, times=2, ops=WRITES, fits=lambda path: path == "a"))
    struck = []
    with opened(disk.create("a")) as a, opened(disk.create("b")) as b:
        for _ in range(5):
            b.write(0, b"x")
            try:
                a.write(0, b"x")
            except OSError:
                struck.append(True)
            else:
                struck.append(False)
    assert struck == [False, True, True, False, False]


def test_of_two_faults_at_one_call_the_first_wins_and_both_count() -> None:
    disk = new_disk()
    disk.inject(Fault(Effect.ENOSPC, at=1))
    disk.inject(Fault(Effect.EIO, at=1, times=2))
    with pytest.raises(OSError, match="No space left"):
        disk.create("a")
    with pytest.raises(OSError, match="Input/output error"):
        disk.create("a")
    disk.create("a")


def test_reads_fail_where_asked() -> None:
    disk = durable(a=b"x")
    disk.inject(Fault(Effect.EIO, ops=frozenset({Op.READ})))
    with opened(disk.open("a")) as file:
        with pytest.raises(OSError, match="Input/output error"):
            file.read(0, 1)
        assert file.read(0, 1) == b"x"


@pytest.mark.parametrize(
    ("effect", "names"), [(Effect.CRASH_BEFORE, ["a"]), (Effect.CRASH_AFTER, ["a", "b"])]
)
def test_a_crash_comes_before_or_after_the_nth_change(effect: Effect, names: list[str]) -> None:
    disk = new_disk()
    disk.inject(Fault(effect, at=2))
    disk.create("a")
    disk.list("/")
    with pytest.raises(PowerCut):
        disk.create("b")
    with pytest.raises(PowerCut):
        disk.create("c")
    assert disk.process_crash().list("/") == names


def test_no_handler_of_errors_lives_through_a_crash() -> None:
    disk = new_disk()
    disk.inject(Fault(Effect.CRASH_BEFORE))

    def careful() -> None:
        with suppress(Exception):
            disk.create("a")

    with pytest.raises(PowerCut):
        careful()


def test_a_crash_comes_even_if_the_call_itself_fails() -> None:
    disk = new_disk()
    disk.inject(Fault(Effect.CRASH_AFTER))
    with pytest.raises(PowerCut):
        disk.remove("none")


def test_faults_end_with_the_process() -> None:
    disk = new_disk()
    disk.inject(Fault(Effect.EIO, times=None))
    disk.process_crash().create("a")


def test_a_full_disk_writes_what_fits_and_room_comes_back() -> None:
    disk = new_disk(capacity_bytes=2048)
    with opened(disk.create("a")) as file:
        with pytest.raises(OSError, match="No space left"):
            file.write(100, b"x" * 5000)
        assert file.size() == 2048
        file.write(0, b"in place")
        with pytest.raises(OSError, match="No space left"):
            disk.create("b")
        disk.remove("a")
        assert disk.free_bytes() == 0, "an open file keeps its room"
    assert disk.free_bytes() == 2048
    put(disk, "b", b"x" * 2048)
    disk.capacity_bytes = None
    put(disk, "c", b"x" * 5000)
    assert disk.free_bytes() is None


def test_cutting_a_file_gives_room_and_holes_take_none() -> None:
    disk = new_disk(capacity_bytes=2048)
    with opened(disk.create("a")) as file:
        file.write(0, b"x" * 2048)
        file.truncate(512)
        assert disk.free_bytes() == 1536
        file.truncate(1_000_000)
        assert disk.free_bytes() == 1536
