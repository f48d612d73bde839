"""A disk to look at only: whatever would change it is refused, by us or by the system."""

from collections.abc import Callable
from pathlib import Path

import pytest

from riverlog.stores.disk import Disk, opened
from riverlog.stores.read_only_disk import ReadOnlyDisk


@pytest.mark.parametrize(
    "change",
    [
        lambda disk, path: disk.create(f"{path}/new"),
        lambda disk, path: disk.rename(f"{path}/file", f"{path}/new"),
        lambda disk, path: disk.link(f"{path}/file", f"{path}/new"),
        lambda disk, path: disk.remove(f"{path}/file"),
        lambda disk, path: disk.make_directory(f"{path}/new"),
        lambda disk, path: disk.remove_directory(path),
        lambda disk, path: disk.sync_directory(path),
        lambda disk, path: disk.open(f"{path}/file").write(0, b"changed"),
        lambda disk, path: disk.open(f"{path}/file").truncate(0),
    ],
)
def test_nothing_can_be_changed_through_it(
    tmp_path: Path, change: Callable[[Disk, str], object]
) -> None:
    (tmp_path / "file").write_bytes(b"as it was")
    with pytest.raises(OSError):
        change(ReadOnlyDisk(), str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"as it was"


def test_everything_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"as it was")
    disk: Disk = ReadOnlyDisk()
    assert disk.list(str(tmp_path)) == ["file"]
    assert disk.exists(f"{tmp_path}/file")
    with opened(disk.open(f"{tmp_path}/file")) as file:
        assert file.read(3, 10) == b"it was"
