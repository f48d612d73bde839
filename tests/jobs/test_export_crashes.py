"""Exports on a disk that stops or fails at every call: the old table or the new one, never more."""

from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riverlog.jobs.errors import JobFailed
from riverlog.jobs.export import Plan, run
from riverlog.jobs.export_directory import MANIFEST, NOTES, ExportDirectory
from riverlog.jobs.export_manifest import Manifest
from riverlog.jobs.parquet_files import Piece
from riverlog.kernel.wanted import SCHEMA
from riverlog.stores.disk import Disk
from riverlog.tables.ranges import Range
from riverlog.testing.simulated_disk import Effect, Fault, PowerCut, SimulatedDisk, Survival

COLUMNS = ("value", "partition", "offset")
PATH = "/table"
# What each of two runs finds in the topic: partitions and their ends.
ENDS = [{0: 4, 1: 1}, {0: 6, 1: 1, 2: 2}]


def rows_of(partition: int, found: Range, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """The topic: every offset but those that 4 divides, three rows to a batch."""
    offsets = [offset for offset in range(found.start, found.end) if offset % 4]
    schema = pa.schema([SCHEMA.field(name) for name in columns])
    for first in range(0, len(offsets), 3):
        rows = [
            {"value": b"%d/%d" % (partition, offset), "offset": offset}
            for offset in offsets[first : first + 3]
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def export_until(disk: Disk, ends: dict[int, int]) -> None:
    """One run, as `make_plan` would plan it."""
    directory = ExportDirectory(disk, PATH)
    manifest = directory.manifest or Manifest("t", "id", COLUMNS, dict.fromkeys(ends, 0), ())
    pieces = [
        Piece(partition, manifest.next_offsets.get(partition, 0), end, 2)
        for partition, end in ends.items()
    ]
    run(Plan(manifest, tuple(pieces)), disk, directory, rows_of, lambda _: None)


def both_runs(disk: Disk) -> None:
    for ends in ENDS:
        export_until(disk, ends)


def table_in(disk: Disk) -> set[tuple[str, int]]:
    """Every row that a reader of the directory finds, who knows nothing of manifests."""
    found: list[tuple[str, int]] = []
    names = disk.list(PATH) if disk.exists(PATH) else []
    for directory in names:
        if directory == NOTES:
            continue
        for name in disk.list(f"{PATH}/{directory}"):
            file = disk.open(f"{PATH}/{directory}/{name}")
            data = file.read(0, file.size())
            rows = pq.read_table(pa.BufferReader(data), partitioning=None).to_pylist()
            found += [(row["value"].decode(), row["offset"]) for row in rows]
    assert len(found) == len(set(found)), "no row is there twice"
    return set(found)


def expected(ends: dict[int, int]) -> set[tuple[str, int]]:
    return {
        (f"{partition}/{offset}", offset)
        for partition, end in ends.items()
        for offset in range(end)
        if offset % 4
    }


def change_count() -> int:
    disk = SimulatedDisk(Random(0))
    both_runs(disk)
    assert table_in(disk) == expected(ENDS[-1])
    return disk.changes


CRASH_POINTS = range(1, change_count() + 1)


@pytest.mark.parametrize("survival", list(Survival))
def test_a_power_cut_at_any_call_leaves_whole_files_and_the_next_run_adds_the_rest_once(
    survival: Survival,
) -> None:
    for point in CRASH_POINTS:
        disk = SimulatedDisk(Random(point))
        disk.inject(Fault(Effect.CRASH_AFTER, at=point))
        with pytest.raises(PowerCut):
            both_runs(disk)
        disk = disk.power_cut(survival)

        seen = table_in(disk)
        committed = table_of_manifest(disk)
        both_runs(disk)

        assert seen <= committed, point
        assert committed <= expected(ENDS[-1]), point
        assert table_in(disk) == expected(ENDS[-1]), point
        assert disk.list(f"{PATH}/{NOTES}/staged") == [], point


def table_of_manifest(disk: Disk) -> set[tuple[str, int]]:
    """The rows after whoever comes next has opened the directory: those of the manifest."""
    manifest = ExportDirectory(disk, PATH).manifest
    found = table_in(disk)
    ends = {} if manifest is None else dict(manifest.next_offsets)
    assert found == expected(ends), "rows and offsets are committed together"
    return found


def test_what_was_seen_after_a_kill_survives_a_power_cut() -> None:
    for point in CRASH_POINTS:
        disk = SimulatedDisk(Random(point))
        disk.inject(Fault(Effect.CRASH_AFTER, at=point))
        with pytest.raises(PowerCut):
            both_runs(disk)
        disk = disk.process_crash()
        seen = table_of_manifest(disk)

        assert table_of_manifest(disk.power_cut(Survival.NOTHING)) == seen, point


@pytest.mark.parametrize("effect", [Effect.EIO, Effect.ENOSPC])
def test_a_failure_at_any_call_is_told_and_the_next_run_ends_the_work(effect: Effect) -> None:
    for point in CRASH_POINTS:
        disk = SimulatedDisk(Random(point))
        disk.inject(Fault(effect, at=point))
        with pytest.raises(OSError):
            both_runs(disk)
        disk.clear_faults()

        both_runs(disk)

        assert table_in(disk) == expected(ENDS[-1]), point


def test_a_replay_changes_nothing() -> None:
    disk = SimulatedDisk(Random(0))
    both_runs(disk)
    before = disk.changes

    export_until(disk, ENDS[-1])

    assert disk.changes == before


def test_a_damaged_manifest_is_told_and_nothing_is_written() -> None:
    disk = SimulatedDisk(Random(0))
    both_runs(disk)
    disk.open(f"{PATH}/{NOTES}/{MANIFEST}").write(20, b"X")
    before = disk.changes

    with pytest.raises(JobFailed, match="restore it"):
        export_until(disk, ENDS[-1])

    assert disk.changes == before


def test_a_file_that_is_gone_is_told_of() -> None:
    disk = SimulatedDisk(Random(0))
    both_runs(disk)
    name = disk.list(f"{PATH}/partition=0")[0]
    disk.remove(f"{PATH}/partition=0/{name}")

    with pytest.raises(JobFailed, match=f"{name} is missing"):
        export_until(disk, ENDS[-1])
