"""Open files: few at rest, open while they are lent, closed when nobody has them."""

from random import Random

import pytest

from riverlog.stores.disk import File
from riverlog.stores.handles import Handles
from riverlog.testing.simulated_disk import SimulatedDisk


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk(Random(0))
    for name in "abcd":
        disk.create(name).close()
    return disk


def is_open(file: File) -> bool:
    try:
        file.size()
    except OSError:
        return False
    return True


def test_a_file_is_opened_once_and_used_again(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 2)
    assert handles.use("a") is handles.use("a")


def test_no_more_files_rest_than_allowed_and_the_longest_unused_goes(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 2)
    a, b = handles.use("a"), handles.use("b")
    handles.use("a")
    handles.use("c")
    assert is_open(a)
    assert not is_open(b)
    assert handles.use("b") is not b


def test_a_lent_file_stays_open_however_many_there_are(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 1)
    lent = handles.lend("a")
    for name in "bcd":
        handles.use(name)
    assert is_open(lent)
    assert handles.use("a") is lent


def test_a_file_lent_twice_stays_lent_until_both_give_it_back(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 1)
    lent = handles.lend("a")
    assert handles.lend("a") is lent
    handles.give_back("a")
    handles.use("b")
    assert is_open(lent)
    handles.give_back("a")
    handles.use("c")
    assert not is_open(lent)


def test_a_dropped_file_is_closed_at_once_when_it_rests(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 2)
    file = handles.use("a")
    handles.drop("a")
    assert not is_open(file)


def test_a_dropped_file_that_is_lent_is_closed_when_it_comes_back(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 2)
    file = handles.lend("a")
    handles.drop("a")
    assert is_open(file)
    handles.give_back("a")
    assert not is_open(file)
    assert handles.use("a") is not file


def test_dropping_what_is_not_open_does_nothing(disk: SimulatedDisk) -> None:
    Handles(disk, 2).drop("a")


def test_a_new_file_is_kept(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 2)
    file = disk.create("new")
    handles.keep("new", file)
    assert handles.use("new") is file


def test_closing_closes_everything(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 2)
    resting, lent = handles.use("a"), handles.lend("b")
    handles.close()
    assert not is_open(resting)
    assert not is_open(lent)


def test_a_file_may_come_back_after_everything_was_closed(disk: SimulatedDisk) -> None:
    handles = Handles(disk, 2)
    handles.lend("a")
    handles.close()
    handles.give_back("a")
