"""What surrounds tasks on Spark: how work is cut and put in order, and which attempt counts."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riverlog.jobs.errors import JobFailed
from riverlog.jobs.export_directory import NOTES, STAGED, ExportDirectory, create_staged
from riverlog.jobs.export_manifest import DataFile, Manifest
from riverlog.jobs.import_marks import RowSet, mark, row_of
from riverlog.jobs.importing import Asked
from riverlog.jobs.row_files import BadRow, JsonRows, Lines, Row
from riverlog.stores.disk import OsDisk, opened

FILE = DataFile(0, 10, 20, 10, 4)


def stage(path: Path, attempt: str, content: bytes) -> None:
    with opened(create_staged(OsDisk(), str(path), FILE, attempt)) as file:
        file.write(0, content)


def read_rows(path: Path, lines: Lines | None) -> list[Row | BadRow]:
    rows = JsonRows(str(path), lines)
    try:
        return list(rows.rows())
    finally:
        rows.close()


def test_one_attempt_becomes_the_file_and_the_others_are_removed(tmp_path: Path) -> None:
    directory = ExportDirectory(OsDisk(), str(tmp_path / "table"))
    for attempt, content in ((".1", b"lost"), (".2", b"good"), (".3", b"half a")):
        stage(tmp_path / "table", attempt, content)

    directory.adopt(FILE, ".2")
    manifest = Manifest("t", "id", ("value",), {0: 20}, (FILE,))
    directory.commit(manifest, (FILE,))
    directory.discard_staged()

    assert (tmp_path / "table" / FILE.path).read_bytes() == b"good"
    assert list((tmp_path / "table" / NOTES / STAGED).iterdir()) == []


@pytest.mark.parametrize("attempt", [".1", ".2"], ids=["half", "elsewhere"])
def test_a_file_that_is_not_here_as_it_was_told_of_is_not_committed(
    tmp_path: Path, attempt: str
) -> None:
    directory = ExportDirectory(OsDisk(), str(tmp_path / "table"))
    stage(tmp_path / "table", ".1", b"hal")

    with pytest.raises(JobFailed, match="all machines have to share"):
        directory.adopt(FILE, attempt)


def test_an_adopted_file_that_no_commit_followed_is_removed_by_who_comes_next(
    tmp_path: Path,
) -> None:
    directory = ExportDirectory(OsDisk(), str(tmp_path / "table"))
    stage(tmp_path / "table", ".1", b"good")
    directory.adopt(FILE, ".1")

    ExportDirectory(OsDisk(), str(tmp_path / "table"))

    assert list((tmp_path / "table" / NOTES / STAGED).iterdir()) == []


def test_sets_of_rows_put_together_hold_the_rows_of_both() -> None:
    some, more = RowSet(), RowSet()
    for number in (1, 2, 900):
        some.add(number)
    for number in (2, 3):
        more.add(number)

    more.merge(some)

    assert more.count == 4
    assert [number for number in range(1000) if number in more] == [1, 2, 3, 900]


@pytest.mark.parametrize(
    "text", [b"x/a.csv", b"x/a.csv:", b"x/a.csv:-1", b"y/a.csv:1", b"x:1", b""]
)
def test_only_our_own_marks_tell_of_rows(text: bytes) -> None:
    assert row_of(text, "x") is None
    assert row_of(mark("x", "a:b.csv", 12), "x") == ("a:b.csv", 12)


@pytest.mark.client("spark")
class TestWithSpark:
    """What needs PySpark to be imported, but no session."""

    def test_neighbours_share_a_task_up_to_a_weight(self) -> None:
        from riverlog.jobs.on_spark.tasks import bundles

        def weighed(*weights: int) -> list[tuple[int, ...]]:
            return bundles(weights, lambda weight: weight, 10)

        assert weighed(1, 2, 3, 4, 5, 20, 1) == [(1, 2, 3, 4), (5,), (20,), (1,)]
        assert weighed() == []

    def test_results_wait_for_those_before_them(self) -> None:
        from riverlog.jobs.on_spark.tasks import Result, in_order

        came = [Result(number, 0, str(number)) for number in (2, 0, 1, 4, 3)]
        taken = in_order(iter(came))

        assert [result.number for result in taken] == [0, 1, 2, 3, 4]

    def test_parts_cover_every_row_in_order(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from riverlog.jobs.on_spark import import_parts
        from riverlog.jobs.parquet_rows import Groups, ParquetRows

        monkeypatch.setattr(import_parts, "PART_BYTES", 1000)
        table = tmp_path / "rows.parquet"
        pq.write_table(pa.table({"n": list(range(1, 1001))}), table, row_group_size=90)
        lines = tmp_path / "rows.jsonl"
        lines.write_text(json.dumps({"n": 1}))
        empty = tmp_path / "empty.parquet"
        pq.write_table(pa.table({"n": pa.array([], pa.int64())}), empty)

        parts = import_parts.parts_of(Asked([str(lines), str(table), str(empty)]))
        read = [
            row
            for part in parts
            if isinstance(part.place, Groups) and part.file == 1
            for row in ParquetRows(str(table), part.place).rows()
            if isinstance(row, Row)
        ]

        assert [part.number for part in parts] == list(range(len(parts)))
        assert len(parts) > 4
        assert [(row.number, row.values["n"]) for row in read] == [(n, n) for n in range(1, 1001)]

    @pytest.mark.parametrize("part_bytes", [1, 2, 7, 40, 1000])
    def test_lines_are_in_one_part_each_and_keep_their_numbers(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part_bytes: int
    ) -> None:
        from riverlog.jobs.on_spark import import_parts

        monkeypatch.setattr(import_parts, "PART_BYTES", part_bytes)
        path = tmp_path / "rows.jsonl"
        path.write_bytes(b'\xef\xbb\xbf{"n":1}\n\n  \r\n{"n":22222222}\r\n{"n":3}\nbad\n\n{"n":4}')

        parts = import_parts.parts_of(Asked([str(path)]))
        places = {part.number: part.place or Lines() for part in parts}
        counts = {
            number: len(list(read_rows(path, place)))
            for number, place in places.items()
            if isinstance(place, Lines)
        }
        found = [
            row
            for part in import_parts.numbered(parts, counts)
            if isinstance(part.place, Lines | None)
            for row in read_rows(path, part.place)
        ]

        assert found == list(read_rows(path, None))
        assert [row.number for row in found] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize(
        ("told", "expected"),
        [
            (
                "An error occurred while calling z:org.X.\n: org.apache.spark.SparkException: Job"
                " aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent"
                " failure: Lost task 0.3 in stage 1.0 (TID 9) (h executor 0): ExecutorLostFailure"
                " (executor 0 exited)\nDriver stacktrace:\n\tat org.X(X.scala:1)",
                "Lost task 0.3 in stage 1.0 (TID 9) (h executor 0): ExecutorLostFailure (executor 0"
                " exited)",
            ),
            (
                ": org.PythonException: Traceback (most recent call last):\n  File 'x', line 1\n"
                "    work()\nModuleNotFoundError: No module named 'riverlog'\n SQLSTATE: 38000\n"
                "\tat org.X(X.scala:1)",
                "ModuleNotFoundError: No module named 'riverlog'",
            ),
            (
                "An error occurred while calling z:org.X.\n: java.lang.IllegalStateException:"
                " SparkContext has been shutdown\n\tat org.X(X.scala:1)",
                "java.lang.IllegalStateException: SparkContext has been shutdown",
            ),
            ("", "the job failed"),
        ],
        ids=["lost", "raised", "ended", "nothing"],
    )
    def test_a_page_of_java_becomes_a_sentence(self, told: str, expected: str) -> None:
        from riverlog.jobs.on_spark.tasks import sentence_of

        assert sentence_of(told) == expected
