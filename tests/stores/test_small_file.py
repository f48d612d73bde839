"""Small files: whole or not there, at every crash; changed ones are told from sound ones."""

from random import Random

import pytest

from riverlog.stores.small_file import (
    DRAFT_SUFFIX,
    DamagedFile,
    read_small_file,
    set_aside,
    write_small_file,
)
from riverlog.testing.simulated_disk import Effect, Fault, PowerCut, SimulatedDisk, Survival
from tests.testing.disks import get, put

PATH = "directory/file"

# Writing one creates, writes, syncs, renames, and syncs the directory.
CHANGES = 5


def new_disk(seed: object = 0) -> SimulatedDisk:
    disk = SimulatedDisk(Random(f"{seed}"))
    disk.make_directory("directory")
    disk.sync_directory("")
    return disk


def test_what_is_written_is_what_is_read() -> None:
    disk = new_disk()
    for content in (b"", b"first", b"second, and longer", b"\n"):
        write_small_file(disk, PATH, content)
        assert read_small_file(disk, PATH) == content


def test_it_is_durable_when_the_call_returns() -> None:
    disk = new_disk()
    write_small_file(disk, PATH, b"content")
    assert read_small_file(disk.power_cut(Survival.NOTHING), PATH) == b"content"


@pytest.mark.parametrize("survival", list(Survival))
@pytest.mark.parametrize("effect", [Effect.CRASH_BEFORE, Effect.CRASH_AFTER])
def test_a_crash_leaves_the_old_content_or_the_new(effect: Effect, survival: Survival) -> None:
    for at in range(1, CHANGES + 1):
        disk = new_disk(f"{effect} {survival} {at}")
        write_small_file(disk, PATH, b"old" * 300)
        disk.inject(Fault(effect, at=at))
        with pytest.raises(PowerCut):
            write_small_file(disk, PATH, b"new" * 500)
        disk = disk.power_cut(survival)
        assert read_small_file(disk, PATH) in (b"old" * 300, b"new" * 500)
        write_small_file(disk, PATH, b"next")
        assert read_small_file(disk, PATH) == b"next"


@pytest.mark.parametrize("at", range(1, CHANGES + 1))
def test_a_failed_call_leaves_the_old_content_or_the_new_and_the_next_try_works(at: int) -> None:
    disk = new_disk()
    write_small_file(disk, PATH, b"old")
    disk.inject(Fault(Effect.EIO, at=at))
    with pytest.raises(OSError, match="Input/output"):
        write_small_file(disk, PATH, b"new")
    assert read_small_file(disk, PATH) in (b"old", b"new")
    write_small_file(disk, PATH, b"next")
    assert read_small_file(disk, PATH) == b"next"


def test_a_draft_left_behind_is_in_nobodys_way() -> None:
    disk = new_disk()
    put(disk, PATH + DRAFT_SUFFIX, b"from a crash")
    write_small_file(disk, PATH, b"content")
    assert disk.list("directory") == ["file"]


def test_every_changed_byte_and_every_cut_is_noticed() -> None:
    disk = new_disk()
    write_small_file(disk, PATH, b'{"a": 1}')
    data = get(disk, PATH)
    cut = [data[:size] for size in range(len(data))]
    changed = [
        data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
        for at in range(len(data))
        for bit in range(8)
    ]
    for damaged in (*cut, *changed, data + b"x"):
        disk.remove(PATH)
        put(disk, PATH, damaged)
        with pytest.raises(DamagedFile):
            read_small_file(disk, PATH)


def test_a_file_that_is_not_there_is_not_damaged() -> None:
    with pytest.raises(FileNotFoundError):
        read_small_file(new_disk(), PATH)


def test_damaged_files_are_set_aside_under_names_of_their_own() -> None:
    disk = new_disk()
    asides = []
    for content in (b"one", b"two", b"three"):
        put(disk, PATH, content, sync=True)
        asides.append(set_aside(disk, PATH))
    after = disk.power_cut(Survival.NOTHING)
    assert [get(after, aside) for aside in asides] == [b"one", b"two", b"three"]
    assert not after.exists(PATH)
