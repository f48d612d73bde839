"""How much room a disk has."""

import shutil
from pathlib import Path

import pytest

from riverlog.stores.disk_space import DiskSpace, disk_space, unknown_space


def test_room_is_what_the_system_tells_of_the_file_system(tmp_path: Path) -> None:
    space = disk_space(str(tmp_path))
    assert space.total_bytes == shutil.disk_usage(tmp_path).total
    assert 0 <= space.usable_bytes <= space.total_bytes


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        disk_space(str(tmp_path / "nowhere"))


def test_a_disk_that_is_none_has_no_known_size() -> None:
    assert unknown_space("anywhere") == DiskSpace(-1, -1)
