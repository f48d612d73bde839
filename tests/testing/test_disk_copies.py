"""A copied disk, a replayed one and a traced one."""

from random import Random

from riverlog.stores.disk import opened
from riverlog.testing.simulated_disk import Op, Survival
from tests.testing.disks import durable, get, new_disk, put


def test_a_copy_has_its_own_future() -> None:
    disk = durable(a=b"x" * 1000)
    with opened(disk.open("a")) as file:
        file.write(0, b"y")
        copy = disk.copy(Random(0))
        file.write(1, b"z")
        with opened(copy.open("a")) as other:
            assert other.read(0, 2) == b"yx"
            other.write(0, b"copy")
        copy.create("b")
        assert file.read(0, 4) == b"yzxx"
    assert disk.list("/") == ["a"]
    assert get(copy.power_cut(Survival.NOTHING), "a") == b"x" * 1000
    assert get(disk.power_cut(Survival.EVERYTHING), "a")[:2] == b"yz"


def test_a_copy_keeps_two_names_of_one_file_one_file() -> None:
    disk = durable(a=b"x")
    disk.link("a", "b")
    copy = disk.copy(Random(0))
    with opened(copy.open("a")) as file:
        file.write(0, b"y")
    assert get(copy, "b") == b"y"


def test_the_futures_of_a_copy_are_those_of_the_original() -> None:
    disk = durable(a=b"old")
    put(disk, "b", b"unsynced name", sync=True)
    with opened(disk.open("a")) as file:
        file.write(0, b"new")
    assert get(disk.copy(Random(0)).power_cut(Survival.NOTHING), "a") == b"old"
    assert get(disk, "a") == b"new"
    everything = disk.copy(Random(0)).power_cut(Survival.EVERYTHING)
    assert (get(everything, "a"), get(everything, "b")) == (b"new", b"unsynced name")
    synced = disk.copy(Random(0))
    with opened(synced.open("a")) as file:
        file.sync()
    assert get(synced.power_cut(Survival.NOTHING), "a") == b"new"


def test_the_same_seed_gives_the_same_disk() -> None:
    def run(seed: int) -> list[bytes]:
        disk = durable(seed, a=b"o" * 5000)
        with opened(disk.open("a")) as file:
            file.write(0, b"n" * 6000)
        disk = disk.power_cut(Survival.TORN)
        return [get(disk, name) for name in disk.list("/")]

    assert all(run(seed) == run(seed) for seed in range(20))
    assert len({run(seed)[0] for seed in range(20)}) > 10


def test_calls_are_counted_and_traced() -> None:
    disk = new_disk()
    put(disk, "a", b"x", sync=True)
    disk.list("/")
    disk.sync_directory("/")
    assert disk.changes == 4
    assert disk.trace == [
        (Op.CREATE, "a"),
        (Op.WRITE, "a"),
        (Op.SYNC, "a"),
        (Op.LIST, "/"),
        (Op.SYNC_DIRECTORY, "/"),
    ]
