"""What every disk does while nothing fails: the real one, and those that stand in for it."""

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from riverlog.stores.disk import Disk, File, OsDisk, opened
from riverlog.stores.memory_disk import MemoryDisk
from riverlog.testing.severable_disk import SeverableDisk
from riverlog.testing.simulated_disk import SimulatedDisk


@dataclass(frozen=True, slots=True)
class Ground:
    """A disk and an empty directory on it."""

    disk: Disk
    base: str

    def at(self, name: str) -> str:
        return f"{self.base}/{name}"

    def put(self, name: str, data: bytes) -> None:
        with opened(self.disk.create(self.at(name))) as file:
            file.write(0, data)

    def get(self, name: str) -> bytes:
        with opened(self.disk.open(self.at(name))) as file:
            return file.read(0, file.size() + 1)

    def names(self) -> list[str]:
        return self.disk.list(self.base)


@pytest.fixture(params=["os", "simulated", "memory", "severable"])
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    match request.param:
        case "os":
            return Ground(OsDisk(), str(tmp_path))
        case "simulated":
            return _ground_on(SimulatedDisk(Random(0)))
        case "severable":
            return _ground_on(SeverableDisk(MemoryDisk()))
    return _ground_on(MemoryDisk())


def _ground_on(disk: Disk) -> Ground:
    disk.make_directory("/base")
    return Ground(disk, "/base")


def test_what_is_written_is_read(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(0, b"hello world")
        file.write(6, bytearray(b"there"))
        file.write(11, memoryview(b"!"))
        assert file.read(0, 100) == b"hello there!"
        assert file.read(6, 5) == b"there"
        assert file.size() == 12


def test_parts_are_written_one_after_the_other(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(2, b"ab", memoryview(b"cde"), bytearray(b"f"))
        file.write(3, b"", b"B")
        assert file.read(0, 100) == b"\0\0aBcdef"


def test_a_write_across_many_sectors_is_read_in_any_cut(ground: Ground) -> None:
    data = Random(1).randbytes(5000)
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(0, data[:700])
        file.write(700, data[700:])
        for position in (0, 1, 511, 512, 513, 1024, 4999):
            for size in (0, 1, 511, 512, 513, 5000):
                assert file.read(position, size) == data[position : position + size]


def test_reads_past_the_end_give_what_is_there(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(0, b"abc")
        assert file.read(2, 10) == b"c"
        assert file.read(3, 10) == b""
        assert file.read(1000, 10) == b""


def test_an_empty_write_changes_nothing(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(100, b"")
        assert file.size() == 0


def test_a_gap_reads_as_zeros(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(1000, b"x")
        assert file.read(0, 2000) == bytes(1000) + b"x"


def test_bytes_cut_off_come_back_as_zeros(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(0, b"y" * 2000)
        file.truncate(700)
        assert file.size() == 700
        file.truncate(1500)
        assert file.read(0, 2000) == b"y" * 700 + bytes(800)


def test_two_handles_see_one_file(ground: Ground) -> None:
    ground.put("a", b"")
    path = ground.at("a")
    with opened(ground.disk.open(path)) as writer, opened(ground.disk.open(path)) as reader:
        writer.write(0, b"now")
        assert reader.read(0, 3) == b"now"


def test_sync_changes_nothing_that_reads_see(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write(0, b"abc")
        file.sync()
        ground.disk.sync_directory(ground.base)
        assert file.read(0, 9) == b"abc"
    assert ground.names() == ["a"]


def test_writing_out_changes_nothing_that_reads_see_and_raises_nothing(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        file.write_out()
        file.write(0, b"abc")
        file.write_out()
        file.write(1, b"x")
        file.sync()
        assert file.read(0, 9) == b"axc"
    file.write_out()


def test_a_closed_file_refuses_and_closing_twice_is_harmless(ground: Ground) -> None:
    file = ground.disk.create(ground.at("a"))
    file.close()
    with opened(ground.disk.create(ground.at("b"))):
        file.close()
        calls: list[Callable[[], object]] = [
            lambda: file.read(0, 1),
            lambda: file.write(0, b"x"),
            lambda: file.truncate(0),
            file.sync,
            file.size,
        ]
        for call in calls:
            with pytest.raises(OSError, match="Bad file descriptor"):
                call()
    assert ground.get("b") == b""


def test_opening_wants_a_file_that_is_there(ground: Ground) -> None:
    with pytest.raises(FileNotFoundError):
        ground.disk.open(ground.at("a"))
    with pytest.raises(IsADirectoryError):
        ground.disk.open(ground.base)


def test_creating_wants_a_free_name(ground: Ground) -> None:
    ground.put("a", b"first")
    with pytest.raises(FileExistsError):
        ground.disk.create(ground.at("a"))
    with pytest.raises(FileExistsError):
        ground.disk.create(ground.base)
    with pytest.raises(FileNotFoundError):
        ground.disk.create(ground.at("none/b"))
    with pytest.raises(NotADirectoryError):
        ground.disk.create(ground.at("a/b"))
    assert ground.get("a") == b"first"


def test_a_rename_replaces_what_stood_there(ground: Ground) -> None:
    ground.put("a", b"new")
    ground.put("b", b"old")
    ground.disk.rename(ground.at("a"), ground.at("b"))
    assert ground.names() == ["b"]
    assert ground.get("b") == b"new"


def test_a_handle_follows_its_file_through_a_rename(ground: Ground) -> None:
    with opened(ground.disk.create(ground.at("a"))) as file:
        ground.disk.rename(ground.at("a"), ground.at("b"))
        file.write(0, b"still")
    assert ground.get("b") == b"still"


def test_a_rename_of_two_names_of_one_file_leaves_both(ground: Ground) -> None:
    ground.put("a", b"one")
    ground.disk.link(ground.at("a"), ground.at("b"))
    ground.disk.rename(ground.at("a"), ground.at("b"))
    assert ground.names() == ["a", "b"]


def test_a_rename_into_another_directory_moves(ground: Ground) -> None:
    ground.disk.make_directory(ground.at("d"))
    ground.put("a", b"moved")
    ground.disk.rename(ground.at("a"), ground.at("d/b"))
    assert ground.names() == ["d"]
    assert ground.get("d/b") == b"moved"


def test_a_directory_moves_with_all_it_holds(ground: Ground) -> None:
    ground.disk.make_directory(ground.at("d"))
    ground.disk.make_directory(ground.at("empty"))
    ground.put("d/a", b"inside")
    ground.disk.rename(ground.at("d"), ground.at("empty"))
    assert ground.names() == ["empty"]
    assert ground.get("empty/a") == b"inside"


def test_renames_that_cannot_be_are_refused(ground: Ground) -> None:
    for name in ("d", "full"):
        ground.disk.make_directory(ground.at(name))
    ground.put("a", b"")
    ground.put("full/b", b"")
    with pytest.raises(FileNotFoundError):
        ground.disk.rename(ground.at("none"), ground.at("x"))
    with pytest.raises(IsADirectoryError):
        ground.disk.rename(ground.at("a"), ground.at("d"))
    with pytest.raises(NotADirectoryError):
        ground.disk.rename(ground.at("d"), ground.at("a"))
    with pytest.raises(OSError, match="not empty"):
        ground.disk.rename(ground.at("d"), ground.at("full"))
    with pytest.raises(OSError, match="Invalid argument"):
        ground.disk.rename(ground.at("d"), ground.at("d/inner"))
    assert ground.names() == ["a", "d", "full"]


def test_a_link_is_a_second_name_and_never_replaces(ground: Ground) -> None:
    ground.put("a", b"one")
    ground.put("c", b"other")
    ground.disk.link(ground.at("a"), ground.at("b"))
    with pytest.raises(FileExistsError):
        ground.disk.link(ground.at("a"), ground.at("c"))
    ground.disk.remove(ground.at("a"))
    assert ground.get("b") == b"one"
    assert ground.get("c") == b"other"


def test_links_that_cannot_be_are_refused(ground: Ground) -> None:
    ground.disk.make_directory(ground.at("d"))
    with pytest.raises(FileNotFoundError):
        ground.disk.link(ground.at("none"), ground.at("x"))
    with pytest.raises(PermissionError):
        ground.disk.link(ground.at("d"), ground.at("x"))


def test_a_removed_file_is_read_by_those_who_have_it_open(ground: Ground) -> None:
    ground.put("a", b"gone")
    with opened(ground.disk.open(ground.at("a"))) as file:
        ground.disk.remove(ground.at("a"))
        assert file.read(0, 10) == b"gone"
    assert not ground.disk.exists(ground.at("a"))
    with pytest.raises(FileNotFoundError):
        ground.disk.remove(ground.at("a"))


def test_remove_is_for_files_and_remove_directory_for_empty_directories(ground: Ground) -> None:
    ground.disk.make_directory(ground.at("d"))
    ground.put("d/a", b"")
    with pytest.raises(IsADirectoryError):
        ground.disk.remove(ground.at("d"))
    with pytest.raises(OSError, match="not empty"):
        ground.disk.remove_directory(ground.at("d"))
    with pytest.raises(NotADirectoryError):
        ground.disk.remove_directory(ground.at("d/a"))
    with pytest.raises(FileNotFoundError):
        ground.disk.remove_directory(ground.at("none"))
    ground.disk.remove(ground.at("d/a"))
    ground.disk.remove_directory(ground.at("d"))
    assert ground.names() == []


def test_making_a_directory_twice_is_no_error_and_over_a_file_is(ground: Ground) -> None:
    ground.disk.make_directory(ground.at("d"))
    ground.put("d/a", b"kept")
    ground.disk.make_directory(ground.at("d"))
    assert ground.get("d/a") == b"kept"
    with pytest.raises(FileExistsError):
        ground.disk.make_directory(ground.at("d/a"))
    with pytest.raises(FileNotFoundError):
        ground.disk.make_directory(ground.at("none/d"))


def test_names_come_sorted(ground: Ground) -> None:
    for name in ("b", "c", "a"):
        ground.put(name, b"")
    assert ground.names() == ["a", "b", "c"]


def test_only_directories_are_listed_and_synced(ground: Ground) -> None:
    ground.put("a", b"")
    with pytest.raises(FileNotFoundError):
        ground.disk.list(ground.at("none"))
    with pytest.raises(NotADirectoryError):
        ground.disk.list(ground.at("a"))
    with pytest.raises(FileNotFoundError):
        ground.disk.sync_directory(ground.at("none"))
    with pytest.raises(NotADirectoryError):
        ground.disk.sync_directory(ground.at("a"))


def test_exists_answers_for_files_and_directories(ground: Ground) -> None:
    ground.put("a", b"")
    assert ground.disk.exists(ground.at("a"))
    assert ground.disk.exists(ground.base)
    assert not ground.disk.exists(ground.at("none"))
    assert not ground.disk.exists(ground.at("a/below-a-file"))


def test_all_disks_do_the_same_with_the_same_random_calls(tmp_path: Path) -> None:
    chance = Random(2)
    os_ground = Ground(OsDisk(), str(tmp_path))
    others = [_ground_on(SimulatedDisk(Random(0))), _ground_on(MemoryDisk())]
    for _ in range(3000):
        do = _random_call(chance)
        expected = _outcome(do, os_ground)
        assert [_outcome(do, ground) for ground in others] == [expected, expected]
    tree = _tree(os_ground, "")
    assert [_tree(ground, "") for ground in others] == [tree, tree]


def test_zeros_filled_ahead_take_no_memory_and_are_there() -> None:
    with opened(MemoryDisk().create("a")) as file:
        tracemalloc.start()
        try:
            file.write(0, b"first")
            file.write(5, bytes(8 << 20))
            taken_bytes, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        file.write(5, b"second")
        assert file.size() == 5 + (8 << 20)
        assert file.read(0, 13) == b"firstsecond\0\0"
        assert file.read(8 << 20, 100) == bytes(5)
    assert taken_bytes < 10_000


def _random_call(chance: Random) -> Callable[[Ground], object]:
    names = ("a", "b", "d", "d/a", "d/e", "d/e/a", "f")
    one, two = chance.choice(names), chance.choice(names)
    position, data = chance.randrange(3000), chance.randbytes(chance.randrange(1500))

    def on_file(do: Callable[[File], object]) -> Callable[[Ground], object]:
        def call(ground: Ground) -> object:
            with opened(ground.disk.open(ground.at(one))) as file:
                return do(file)

        return call

    return chance.choice(
        [
            lambda ground: ground.put(one, data),
            lambda ground: ground.get(one),
            on_file(lambda file: file.write(position, data)),
            on_file(lambda file: file.truncate(position)),
            on_file(lambda file: file.read(position, len(data))),
            lambda ground: ground.disk.rename(ground.at(one), ground.at(two)),
            lambda ground: ground.disk.link(ground.at(one), ground.at(two)),
            lambda ground: ground.disk.remove(ground.at(one)),
            lambda ground: ground.disk.make_directory(ground.at(one)),
            lambda ground: ground.disk.remove_directory(ground.at(one)),
            lambda ground: ground.disk.list(ground.at(one)),
            lambda ground: ground.disk.exists(ground.at(one)),
        ]
    )


def _outcome(do: Callable[[Ground], object], ground: Ground) -> object:
    try:
        return do(ground)
    except OSError as error:
        return error.errno


def _tree(ground: Ground, name: str) -> object:
    try:
        return {
            inner: _tree(ground, f"{name}/{inner}") for inner in ground.disk.list(ground.at(name))
        }
    except NotADirectoryError:
        return ground.get(name)
