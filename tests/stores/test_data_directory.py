"""A data directory is made, recognised, refused or mended, and a crash leaves one that opens."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from random import Random

import pytest

from riverlog.stores.data_directory import (
    FORMAT_FILE,
    DataDirectory,
    NotADataDirectory,
    UnknownFormat,
    make_durable_directory,
    open_data_directory,
)
from riverlog.stores.disk import Disk, OsDisk, opened
from riverlog.stores.small_file import write_small_file
from riverlog.testing.simulated_disk import Effect, Fault, Op, PowerCut, SimulatedDisk, Survival

ROOT = "/srv/data"
FORMAT_PATH = f"{ROOT}/{FORMAT_FILE}"
OUR_DATA = "topics"


def opened_directory(disk: Disk, path: str = ROOT) -> DataDirectory:
    return open_data_directory(disk, path, made_by="riverlog 0.1", data_names={OUR_DATA})


def new_disk(*names: str) -> SimulatedDisk:
    """A disk with a durable directory that holds files of these names."""
    disk = SimulatedDisk(Random(0))
    make_durable_directory(disk, ROOT)
    for name in names:
        put(disk, f"{ROOT}/{name}", b"")
    disk.sync_directory(ROOT)
    return disk


def put(disk: Disk, path: str, data: bytes) -> None:
    if disk.exists(path):
        disk.remove(path)
    with opened(disk.create(path)) as file:
        file.write(0, data)
        file.sync()
    disk.sync_directory(os.path.dirname(path))


def get(disk: Disk, path: str) -> bytes:
    with opened(disk.open(path)) as file:
        return file.read(0, file.size())


def format_bytes() -> bytes:
    disk = SimulatedDisk(Random(0))
    opened_directory(disk)
    return get(disk, FORMAT_PATH)


def test_a_missing_directory_is_made_with_all_above_it() -> None:
    disk = SimulatedDisk(Random(0))
    assert opened_directory(disk, "/a/b/c") == DataDirectory("/a/b/c", 1, ())
    assert disk.list("/a/b/c") == [FORMAT_FILE]
    first_line = get(disk, "/a/b/c/format.json").splitlines()[0]
    assert first_line == b'{"format": 1, "made_by": "riverlog 0.1"}'


def test_a_relative_path_will_do() -> None:
    disk = SimulatedDisk(Random(0))
    opened_directory(disk, "data")
    assert disk.power_cut(Survival.NOTHING).list("data") == [FORMAT_FILE]


def test_on_a_real_disk_it_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "data"
    opened_directory(OsDisk(), str(path))
    opened_directory(OsDisk(), str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((path / FORMAT_FILE).stat().st_mode) == 0o600
    assert [entry.name for entry in path.iterdir()] == [FORMAT_FILE]


def test_opening_it_again_changes_nothing() -> None:
    disk = SimulatedDisk(Random(0))
    opened_directory(disk)
    put(disk, f"{ROOT}/{OUR_DATA}", b"records")
    before = snapshot(disk)
    again = open_data_directory(disk, ROOT, made_by="riverlog 0.2", data_names=())
    assert again == DataDirectory(ROOT, 1, ())
    assert snapshot(disk) == before


def test_an_empty_directory_and_a_freshly_mounted_one_are_taken() -> None:
    for names in ((), ("lost+found",), ("format.json.draft",)):
        disk = new_disk(*names)
        assert opened_directory(disk).findings == ()
        assert FORMAT_FILE in disk.list(ROOT)
        assert "format.json.draft" not in disk.list(ROOT)


def test_a_newer_format_is_refused_in_one_sentence_and_untouched() -> None:
    disk = new_disk(OUR_DATA)
    write_small_file(disk, FORMAT_PATH, b'{"format": 2, "made_by": "riverlog 9"}')
    assert_refused_untouched(disk, UnknownFormat, "format 2")


def test_a_newer_format_is_refused_even_if_its_file_is_damaged() -> None:
    disk = new_disk(OUR_DATA)
    put(disk, FORMAT_PATH, b'{"format": 12, "made_by": "riverlog 9"}\n00000000\n')
    assert_refused_untouched(disk, UnknownFormat, "format 12")
    put(disk, FORMAT_PATH, b'{"format": 12, "ma')
    assert_refused_untouched(disk, UnknownFormat, "format 12")


@pytest.mark.parametrize("format_file", [None, b"", b"not ours", b"x" * 10_000])
def test_a_directory_of_someone_else_is_refused_and_untouched(format_file: bytes | None) -> None:
    disk = new_disk("thesis.txt", "lost+found")
    if format_file is not None:
        put(disk, FORMAT_PATH, format_file)
    assert_refused_untouched(disk, NotADataDirectory, "choose another directory")


def test_a_file_is_no_directory() -> None:
    disk = SimulatedDisk(Random(0))
    make_durable_directory(disk, "/srv")
    put(disk, ROOT, b"a file")
    with pytest.raises(NotADataDirectory, match="not a directory"):
        opened_directory(disk)
    assert get(disk, ROOT) == b"a file"


def test_a_missing_format_file_beside_our_data_is_reported_and_rewritten() -> None:
    disk = new_disk(OUR_DATA, "something else")
    (finding,) = opened_directory(disk).findings
    assert finding.path == FORMAT_PATH
    assert "missing" in finding.told
    assert get(disk, FORMAT_PATH) == format_bytes()
    assert opened_directory(disk).findings == ()


@pytest.mark.parametrize("names", [(OUR_DATA,), ()], ids=["beside our data", "alone"])
def test_every_flip_and_every_cut_of_the_format_file_is_mended_and_reported(
    names: tuple[str, ...],
) -> None:
    whole = format_bytes()
    flips = [
        whole[:n] + bytes([whole[n] ^ 1 << bit]) + whole[n + 1 :]
        for n in range(len(whole))
        for bit in range(8)
    ]
    for damaged in flips + [whole[:n] for n in range(len(whole))]:
        disk = new_disk(*names)
        put(disk, FORMAT_PATH, damaged)
        (finding,) = opened_directory(disk).findings
        assert "format.json.damaged." in finding.told
        assert get(disk, f"{FORMAT_PATH}.damaged") == damaged
        assert get(disk, FORMAT_PATH) == whole


def test_what_was_kept_aside_is_never_overwritten() -> None:
    disk = new_disk(OUR_DATA)
    for damaged in (b"first", b"second", b"first", b"third"):
        put(disk, FORMAT_PATH, damaged)
        opened_directory(disk)
    assert disk.list(ROOT) == [
        FORMAT_FILE,
        "format.json.damaged",
        "format.json.damaged-1",
        "format.json.damaged-2",
        OUR_DATA,
    ]
    aside = [get(disk, f"{FORMAT_PATH}.damaged{end}") for end in ("", "-1", "-2")]
    assert aside == [b"first", b"second", b"third"]


def test_a_parent_that_may_not_be_read_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = new_disk()
    allowed = disk.sync_directory

    def sync_directory(path: str) -> None:
        if path == "/srv":
            raise PermissionError(path)
        allowed(path)

    monkeypatch.setattr(disk, "sync_directory", sync_directory)
    assert opened_directory(disk).format == 1


def snapshot(disk: SimulatedDisk) -> dict[str, bytes]:
    return {name: get(disk, f"{ROOT}/{name}") for name in disk.list(ROOT)}


def assert_refused_untouched(disk: SimulatedDisk, error: type[Exception], told: str) -> None:
    before = snapshot(disk)
    calls_before = len(disk.trace)
    with pytest.raises(error) as refused:
        opened_directory(disk)
    assert ROOT in str(refused.value)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
    calls = {op for op, _ in disk.trace[calls_before:]}
    assert calls <= {Op.SYNC_DIRECTORY, Op.LIST, Op.OPEN, Op.READ}
    assert snapshot(disk) == before


STARTS: dict[str, Callable[[], SimulatedDisk]] = {
    "first": lambda: SimulatedDisk(Random(0)),
    "in an empty directory": new_disk,
    "after a draft": lambda: new_disk("format.json.draft"),
    "without a format file": lambda: new_disk(OUR_DATA),
    "with a damaged one": lambda: damaged_disk(),
}
"""What may be there before an opening that is interrupted."""


def damaged_disk() -> SimulatedDisk:
    disk = new_disk(OUR_DATA)
    put(disk, FORMAT_PATH, b"garbage")
    return disk


@pytest.mark.parametrize("start", STARTS)
def test_every_crash_while_opening_leaves_a_directory_that_opens_and_stays(start: str) -> None:
    disk = STARTS[start]()
    changes_before = disk.changes
    opened_directory(disk)
    changes = range(1, disk.changes - changes_before + 1)
    assert len(changes) > 3
    for n, effect, seed in product(changes, Effect, range(4)):
        for survival in (*Survival, None):
            disk = interrupted(STARTS[start](), Fault(effect, at=n), survival, seed)
            opened_directory(disk)
            assert_safe(disk, start)


def interrupted(
    disk: SimulatedDisk, fault: Fault, survival: Survival | None, seed: int
) -> SimulatedDisk:
    """The disk after an opening that failed, and a power cut or (None) a kill."""
    disk.inject(fault)
    with suppress(PowerCut, OSError):
        opened_directory(disk)
    copy = disk.copy(Random(seed))
    return copy.process_crash() if survival is None else copy.power_cut(survival)


def assert_safe(disk: SimulatedDisk, start: str) -> None:
    """What was opened is there after the next power cut too, and the damaged bytes are kept."""
    restarted = disk.power_cut(Survival.NOTHING)
    assert get(restarted, FORMAT_PATH) == format_bytes()
    assert opened_directory(restarted).findings == ()
    if start == "with a damaged one":
        assert get(restarted, f"{FORMAT_PATH}.damaged") == b"garbage"
        assert "format.json.damaged-1" not in restarted.list(ROOT)
