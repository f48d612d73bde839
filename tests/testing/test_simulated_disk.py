"""What a power cut and a crash leave on the simulated disk."""

from collections.abc import Callable
from random import Random

import pytest

from riverlog.stores.disk import opened
from riverlog.testing.simulated_disk import Effect, Fault, PowerCut, SimulatedDisk, Survival
from tests.testing.disks import SEEDS, durable, get, new_disk, put


def outcomes(
    survival: Survival, prepare: Callable[[int], SimulatedDisk]
) -> set[tuple[tuple[str, bytes], ...]]:
    """All that the root may hold after a power cut, over many seeds."""
    found = set()
    for seed in SEEDS:
        disk = prepare(seed).power_cut(survival)
        found.add(tuple((name, get(disk, name)) for name in disk.list("/")))
    return found


@pytest.mark.parametrize("survival", Survival)
def test_what_was_synced_survives_every_power_cut(survival: Survival) -> None:
    data = Random(1).randbytes(3000)
    for seed in SEEDS:
        disk = durable(seed, a=data).power_cut(survival)
        assert get(disk, "a") == data


@pytest.mark.parametrize("survival", Survival)
def test_synced_bytes_survive_unsynced_bytes_after_them(survival: Survival) -> None:
    for seed in SEEDS:
        disk = durable(seed, a=b"s" * 700)
        with opened(disk.open("a")) as file:
            file.write(700, b"u" * 2000)
        assert get(disk.power_cut(survival), "a")[:700] == b"s" * 700


def test_syncing_a_file_does_not_make_its_name_durable() -> None:
    disk = new_disk()
    put(disk, "a", b"synced", sync=True)
    assert disk.power_cut(Survival.NOTHING).list("/") == []


def test_syncing_a_directory_does_not_make_bytes_durable() -> None:
    disk = new_disk()
    put(disk, "a", b"not synced")
    disk.sync_directory("/")
    assert get(disk.power_cut(Survival.NOTHING), "a") == b""


def test_everything_survives_where_it_is_said_to() -> None:
    disk = new_disk()
    put(disk, "a", b"not synced")
    assert get(disk.power_cut(Survival.EVERYTHING), "a") == b"not synced"


def test_a_directory_is_gone_with_all_in_it_until_its_parent_is_synced() -> None:
    disk = new_disk()
    disk.make_directory("d")
    put(disk, "d/a", b"safe", sync=True)
    disk.sync_directory("d")
    assert disk.copy(Random(0)).power_cut(Survival.NOTHING).list("/") == []
    disk.sync_directory("/")
    assert get(disk.power_cut(Survival.NOTHING), "d/a") == b"safe"


def test_random_names_survive_independently() -> None:
    def prepare(seed: int) -> SimulatedDisk:
        disk = new_disk(seed)
        put(disk, "a", b"", sync=True)
        put(disk, "b", b"", sync=True)
        return disk

    a, b = ("a", b""), ("b", b"")
    assert outcomes(Survival.RANDOM, prepare) == {(), (a,), (b,), (a, b)}


def test_a_rename_survives_whole_or_not_at_all() -> None:
    def prepare(seed: int) -> SimulatedDisk:
        disk = durable(seed, draft=b"new", final=b"old")
        disk.rename("draft", "final")
        return disk

    before, after = (("draft", b"new"), ("final", b"old")), (("final", b"new"),)
    assert outcomes(Survival.RANDOM, prepare) == {before, after}
    assert outcomes(Survival.NOTHING, prepare) == {before}
    assert outcomes(Survival.TORN, prepare) == {after}


def test_a_rename_may_survive_the_loss_of_the_creation_before_it() -> None:
    def prepare(seed: int) -> SimulatedDisk:
        disk = new_disk(seed)
        put(disk, "draft", b"x", sync=True)
        disk.rename("draft", "final")
        return disk

    assert outcomes(Survival.RANDOM, prepare) == {(), (("draft", b"x"),), (("final", b"x"),)}


@pytest.mark.parametrize("synced", ["d", "e"])
def test_a_move_between_directories_is_durable_once_either_is_synced(synced: str) -> None:
    disk = new_disk()
    disk.make_directory("d")
    disk.make_directory("e")
    put(disk, "d/a", b"x", sync=True)
    for directory in ("d", "e", "/"):
        disk.sync_directory(directory)
    disk.rename("d/a", "e/a")
    disk.sync_directory(synced)
    restarted = disk.power_cut(Survival.NOTHING)
    assert (restarted.list("d"), restarted.list("e")) == ([], ["a"])


def test_an_older_unsynced_change_never_undoes_a_newer_durable_one() -> None:
    disk = new_disk()
    disk.make_directory("d")
    disk.make_directory("e")
    put(disk, "d/a", b"new", sync=True)
    disk.sync_directory("d")
    disk.sync_directory("/")
    put(disk, "e/a", b"old", sync=True)
    disk.rename("d/a", "e/a")
    disk.sync_directory("d")
    assert get(disk.power_cut(Survival.EVERYTHING), "e/a") == b"new"


def test_a_removal_and_a_link_need_the_directory_synced() -> None:
    disk = durable(a=b"x", b=b"y")
    disk.remove("a")
    disk.link("b", "c")
    assert disk.copy(Random(0)).power_cut(Survival.NOTHING).list("/") == ["a", "b"]
    disk.sync_directory("/")
    assert disk.power_cut(Survival.NOTHING).list("/") == ["b", "c"]


def test_torn_sectors_survive_in_any_combination_later_ones_too() -> None:
    def prepare(seed: int) -> SimulatedDisk:
        disk = durable(seed, a=b"o" * 1024)
        with opened(disk.open("a")) as file:
            file.write(0, b"n" * 1024)
        return disk

    old, new = b"o" * 512, b"n" * 512
    assert outcomes(Survival.TORN, prepare) == {
        (("a", first + second),) for first in (old, new) for second in (old, new)
    }


def test_a_torn_end_has_any_size_between_and_zeros_where_nothing_was_written() -> None:
    def prepare(seed: int) -> SimulatedDisk:
        disk = durable(seed, a=b"o" * 100)
        with opened(disk.open("a")) as file:
            file.write(100, b"n" * 1400)
        return disk

    found = {content for ((_, content),) in outcomes(Survival.TORN, prepare)}
    sizes = {len(content) for content in found}
    assert {100, 1500} < sizes
    assert all(100 <= size <= 1500 for size in sizes)
    assert any(b"\0n" in content for content in found), "a later sector without an earlier one"
    assert any(content.endswith(b"\0") for content in found), "a size without its sectors"
    assert all(set(content[100:]) <= set(b"n\0") for content in found)


def test_a_sector_written_twice_may_hold_either_text() -> None:
    def prepare(seed: int) -> SimulatedDisk:
        disk = durable(seed, a=b"0")
        with opened(disk.open("a")) as file:
            file.write(0, b"1")
            file.write(0, b"2")
        return disk

    found = {content for ((_, content),) in outcomes(Survival.TORN, prepare)}
    assert found == {b"0", b"1", b"2"}


def test_an_unsynced_truncation_may_be_undone_or_not_but_cuts_nothing_below() -> None:
    def prepare(seed: int) -> SimulatedDisk:
        disk = durable(seed, a=b"k" * 600 + b"c" * 600)
        with opened(disk.open("a")) as file:
            file.truncate(600)
        return disk

    contents = {content for ((_, content),) in outcomes(Survival.TORN, prepare)}
    assert all(content[:600] == b"k" * 600 for content in contents)
    assert {b"k" * 600, b"k" * 600 + b"c" * 600} <= contents
    assert outcomes(Survival.NOTHING, prepare) == {(("a", b"k" * 600 + b"c" * 600),)}


def test_all_that_was_written_survives_a_process_crash_and_is_no_more_synced() -> None:
    disk = new_disk()
    put(disk, "a", b"ghost")
    restarted = disk.process_crash()
    assert get(restarted, "a") == b"ghost"
    assert restarted.power_cut(Survival.NOTHING).list("/") == []


def test_a_sync_by_the_next_process_saves_what_the_last_one_wrote() -> None:
    disk = new_disk()
    put(disk, "a", b"saved")
    disk = disk.process_crash()
    with opened(disk.open("a")) as file:
        file.sync()
    disk.sync_directory("/")
    assert get(disk.power_cut(Survival.NOTHING), "a") == b"saved"


@pytest.mark.parametrize("crash", ["process", "power"])
def test_the_disk_and_the_handles_of_a_dead_process_are_dead(crash: str) -> None:
    disk = durable(a=b"x")
    file = disk.open("a")
    restarted = disk.process_crash() if crash == "process" else disk.power_cut(Survival.EVERYTHING)
    calls: list[Callable[[], object]] = [
        lambda: file.read(0, 1),
        lambda: file.write(0, b"zombie"),
        file.sync,
        file.size,
        lambda: disk.list("/"),
        lambda: disk.exists("a"),
        lambda: disk.remove("a"),
    ]
    for call in calls:
        with pytest.raises(PowerCut):
            call()
    file.close()
    assert get(restarted, "a") == b"x"


@pytest.mark.parametrize("survival", Survival)
def test_a_second_power_cut_takes_nothing_more(survival: Survival) -> None:
    for seed in SEEDS:
        disk = durable(seed, a=b"o" * 2000)
        put(disk, "b", b"n" * 2000)
        with opened(disk.open("a")) as file:
            file.write(1000, b"n" * 2000)
        disk = disk.power_cut(survival)
        found = [(name, get(disk, name)) for name in disk.list("/")]
        disk.inject(Fault(Effect.EIO))
        with opened(disk.open("a")) as file, pytest.raises(OSError):
            file.sync()
        for again in (Survival.EVERYTHING, Survival.NOTHING):
            disk = disk.power_cut(again)
            assert [(name, get(disk, name)) for name in disk.list("/")] == found


def test_bytes_lost_with_the_end_of_a_file_never_come_back() -> None:
    disk = durable(a=b"o" * 700)
    with opened(disk.open("a")) as file:
        file.write(700, b"n" * 2000)
    disk = disk.power_cut(Survival.NOTHING)
    with opened(disk.open("a")) as file:
        file.truncate(3000)
        assert file.read(0, 3000) == b"o" * 700 + bytes(2300)


def test_a_size_that_came_through_without_its_bytes_shows_zeros_only() -> None:
    for seed in SEEDS:
        disk = durable(seed, a=b"o" * 700)
        with opened(disk.open("a")) as file:
            file.write(700, b"n" * 2000)
        disk = disk.power_cut(Survival.TORN)
        with opened(disk.open("a")) as file:
            size = file.size()
            file.truncate(3000)
            assert file.read(size, 3000) == bytes(3000 - size)


def test_names_made_certain_are_not_touched_by_their_past() -> None:
    for seed in SEEDS:
        disk = durable(seed, a=b"x", b=b"y")
        disk.remove("a")
        disk.rename("b", "c")
        disk.sync_directory("/")
        assert disk.power_cut(Survival.RANDOM).list("/") == ["c"]


def test_the_root_cannot_be_removed() -> None:
    with pytest.raises(OSError, match="busy"):
        new_disk().remove_directory("/")
