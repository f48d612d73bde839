"""`riverlog doctor`: measured in seconds, judged in words, and nothing left behind."""

import json
from pathlib import Path

import pytest

from riverlog.cli.checkup.disk_speed import DiskSpeed, measure_disk, percentile
from riverlog.cli.checkup.machine import Machine, file_system_of, look_at_machine
from riverlog.cli.checkup.verdicts import BAD, GOOD, LOOK, Verdict, in_one_sentence, judge
from tests.cli.running import run, run_here

DISK = DiskSpeed(1000, 100.0, 300.0, 500_000_000, 64, 7.0)
MACHINE = Machine(
    file_system="ext4",
    free_bytes=100 << 30,
    open_files_max=20_000,
    python="CPython 3.13.1",
    cpu_count=4,
    memory_bytes=8 << 30,
    crc_bytes_per_s=10_000_000_000,
    records_per_s=900_000,
    clock_resolution_ns=1,
    now_ms=1_800_000_000_000,
    has_eatmydata=False,
)
SYNC = "append and sync, 1 KiB"


def verdict_on(
    subject: str, disk: DiskSpeed = DISK, machine: Machine = MACHINE, jump_ms: int = 0
) -> Verdict:
    return next(said for said in judge(disk, machine, jump_ms) if said.subject == subject)


def test_it_measures_for_a_few_seconds_and_leaves_nothing_behind(tmp_path: Path) -> None:
    told = run("doctor", "--data", str(tmp_path), "--json")
    assert told.code in (0, 1), told
    assert told.err == ""
    found = json.loads(told.out)
    assert 0 < found["disk"]["append_us_p50"] <= found["disk"]["append_us_p99"]
    assert found["disk"]["write_bytes_per_s"] > 0
    assert found["machine"]["free_bytes"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert str(tmp_path / "x") in run_here("doctor", "--data", str(tmp_path / "x")).complaint


def test_measuring_keeps_to_its_budget_and_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[int] = []
    speed = measure_disk(str(tmp_path), told.append, budget_ms=20)
    assert speed.append_count > 0
    assert sum(told) <= 60
    assert list(tmp_path.iterdir()) == []


def test_the_machine_is_looked_at(tmp_path: Path) -> None:
    machine = look_at_machine(str(tmp_path))
    assert machine.cpu_count >= 1
    assert machine.records_per_s > 0
    assert machine.python


def test_a_sound_machine_is_good_all_over() -> None:
    verdicts = judge(DISK, MACHINE, jump_ms=3)
    assert [said.verdict for said in verdicts] == [GOOD] * len(verdicts)
    assert "about 10,000 durable writes a second" in in_one_sentence(verdicts, DISK)


@pytest.mark.parametrize(
    ("disk", "machine", "said"),
    [
        (DISK._replace(append_us_p50=2.0), MACHINE, "syncs seem to do nothing here"),
        (DISK, MACHINE._replace(has_eatmydata=True), "libeatmydata is loaded"),
        (DISK, MACHINE._replace(file_system="tmpfs"), "This is memory"),
    ],
)
def test_a_sync_that_is_none_is_bad(disk: DiskSpeed, machine: Machine, said: str) -> None:
    found = verdict_on(SYNC, disk, machine)
    assert found.verdict == BAD
    assert said in found.advice
    assert in_one_sentence(judge(disk, machine, 0), disk).startswith("Do not keep data here")


@pytest.mark.parametrize(
    ("subject", "disk", "machine", "jump_ms"),
    [
        (SYNC, DISK._replace(append_us_p50=30_000.0), MACHINE, 0),
        (SYNC, DISK._replace(append_us_p99=90_000.0), MACHINE, 0),
        ("sequential write", DISK._replace(write_bytes_per_s=5_000_000), MACHINE, 0),
        ("many files in turn", DISK._replace(files_ms_p50=5000.0), MACHINE, 0),
        ("file system", DISK, MACHINE._replace(file_system="nfs4"), 0),
        ("free space", DISK, MACHINE._replace(free_bytes=1000), 0),
        ("open files", DISK, MACHINE._replace(open_files_max=256), 0),
        ("memory", DISK, MACHINE._replace(memory_bytes=64 << 20), 0),
        ("processor", DISK, MACHINE._replace(records_per_s=50_000), 0),
        ("Python", DISK, MACHINE._replace(python="PyPy 3.11"), 0),
        ("clock", DISK, MACHINE, -5000),
    ],
)
def test_what_one_should_look_at_is_told(
    subject: str, disk: DiskSpeed, machine: Machine, jump_ms: int
) -> None:
    assert verdict_on(subject, disk, machine, jump_ms).verdict == LOOK
    assert "advice above" in in_one_sentence(judge(disk, machine, jump_ms), disk)


def test_a_clock_that_stands_in_the_past_is_bad() -> None:
    assert verdict_on("clock", machine=MACHINE._replace(now_ms=0)).verdict == BAD


def test_the_innermost_mount_counts_and_the_last_of_two_on_one_place() -> None:
    mounts = "\n".join(
        [
            "/dev/a / ext4 rw 0 0",
            "tmp /tmp tmpfs rw 0 0",
            "/dev/b /tmp/my\\040disk xfs rw 0 0",
            "/dev/c /srv ext3 rw 0 0",
            "/dev/d /srv btrfs rw 0 0",
            "",
        ]
    )
    assert file_system_of("/var", mounts) == "ext4"
    assert file_system_of("/tmp/other", mounts) == "tmpfs"
    assert file_system_of("/tmp/my disk/data", mounts) == "xfs"
    assert file_system_of("/srv", mounts) == "btrfs"
    assert file_system_of("/srvx", mounts) == "ext4"
    assert file_system_of("/", "") == "unknown"


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([5], 99) == 5
    assert percentile(list(range(100)), 50) == 50
    assert percentile([3, 1, 2], 99) == 3
