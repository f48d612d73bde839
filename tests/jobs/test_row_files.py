"""Files of rows: what is read is what was written, and a bad row never takes others with it."""

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.row_files import BadRow, Row, format_of, open_rows
from riverlog.jobs.row_records import BadValue, Shape, json_of, text_of

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
slow = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


def rows_in(path: Path) -> list[Row | BadRow]:
    file = open_rows(str(path))
    try:
        return list(file.rows())
    finally:
        file.close()


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@slow
@given(st.lists(st.tuples(texts, texts, texts), max_size=5))
def test_any_csv_reads_as_it_was_written(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("a", "b", "c"), *rows])

    found = rows_in(written(tmp_path / "rows.csv", out.getvalue()))

    expected = [dict(zip("abc", row, strict=True)) for row in rows]
    assert [row.values for row in found if isinstance(row, Row)] == expected
    assert [row.number for row in found] == list(range(1, len(rows) + 1))


@slow
@given(st.binary(max_size=60), st.sampled_from(["csv", "jsonl"]))
def test_any_bytes_are_rows_good_or_bad(tmp_path: Path, content: bytes, suffix: str) -> None:
    try:
        found = rows_in(written(tmp_path / f"rows.{suffix}", content))
    except JobRefused:
        return
    assert [row.number for row in found] == list(range(1, len(found) + 1))


def test_a_bad_row_of_csv_is_told_and_the_next_one_read(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbfid,name\n1,one\n2\n\n3,th\xffree\n4,"fo"ur\n5,five\n6,"end'

    found = rows_in(written(tmp_path / "rows.csv", content))

    good = [(row.number, row.values) for row in found if isinstance(row, Row)]
    assert good == [(1, {"id": "1", "name": "one"}), (5, {"id": "5", "name": "five"})]
    bad = [row for row in found if isinstance(row, BadRow)]
    assert [row.number for row in bad] == [2, 3, 4, 6]
    assert bad[0].reason == "line 3: 1 fields, and the first line names 2"


def test_a_bad_row_of_json_is_told_and_the_next_one_read(tmp_path: Path) -> None:
    content = b'{"a": 1.10}\n\n{"a": \n[1]\n{"a": NaN}\n{"a": "\xff"}\r\n{"a": 2}'

    found = rows_in(written(tmp_path / "rows.jsonl", content))

    assert found[0] == Row(1, {"a": 1.1}, b'{"a": 1.10}'), "the text is kept to the digit"
    assert [row.number for row in found if isinstance(row, BadRow)] == [2, 3, 4, 5]
    assert found[5] == Row(6, {"a": 2}, b'{"a": 2}')


def test_parquet_has_types_and_they_become_json(tmp_path: Path) -> None:
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int64()),
            "at": pa.array([NOON, None], pa.timestamp("ns", "UTC")),
            "day": pa.array([date(2026, 1, 31), None]),
            "price": pa.array([Decimal("1.10"), None], pa.decimal128(9, 2)),
            "blob": pa.array([b"\xff", None]),
            "x": pa.array([float("nan"), None]),
            "list": pa.array([[1, 2], None]),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")

    rows = rows_in(tmp_path / "rows.parquet")

    made = [Shape(timestamp=None).record(row).value for row in rows if isinstance(row, Row)]
    assert [json.loads(bytes(value)) for value in made if isinstance(value, bytes)] == [
        {
            "n": 1,
            "at": "2026-01-31T12:00:00+00:00",
            "day": "2026-01-31",
            "price": "1.10",
            "blob": "/w==",
            "x": "NaN",
            "list": [1, 2],
        },
        dict.fromkeys(["n", "at", "day", "price", "blob", "x", "list"]),
    ]


def test_a_parquet_file_that_is_cut_or_none_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1, 2, 3]}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()

    for content in (b"", b"PAR1", whole[:-1], b"no parquet at all"):
        with pytest.raises(JobRefused, match="no Parquet"):
            open_rows(str(written(tmp_path / "cut.parquet", content)))


def test_a_parquet_file_whose_middle_is_damaged_is_told_of(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": ["x" * 50, "y" * 50]}), tmp_path / "whole.parquet")
    damaged = bytearray((tmp_path / "whole.parquet").read_bytes())
    damaged[4:30] = bytes(26)

    with pytest.raises(JobFailed, match="behind row 0"):
        rows_in(written(tmp_path / "damaged.parquet", bytes(damaged)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), ("ä", "ä".encode()), (b"\xff", b"\xff"), (1, b"1"), (True, b"true"),
     (1.5, b"1.5"), ([1, "a"], b'[1,"a"]'), ({"a": None}, b'{"a":null}'),
     (date(2026, 1, 31), b"2026-01-31"), (Decimal("1.10"), b"1.10")],
)  # fmt: skip
def test_a_single_column_is_bytes(value: object, expected: bytes | None) -> None:
    assert text_of(value) == expected


@pytest.mark.parametrize(
    "value", [NOON_MS, str(NOON_MS), "2026-01-31T12:00:00", "2026-01-31T13:00:00+01:00", NOON,
              NOON.replace(tzinfo=None)],
)  # fmt: skip
def test_a_column_of_times_may_be_written_in_many_ways(value: object) -> None:
    record = Shape(timestamp="at").record(Row(1, {"at": value}))

    assert record.timestamp_ms == NOON_MS


@pytest.mark.parametrize("value", [None, "", "noon", -1, 2**63, True, 1.5, [1], "1969-12-31"])
def test_what_is_no_time_is_told_of(value: object) -> None:
    with pytest.raises(BadValue, match="column at is no time"):
        Shape(timestamp="at").record(Row(1, {"at": value}))


def test_half_a_surrogate_pair_is_a_bad_value() -> None:
    with pytest.raises(BadValue):
        Shape(key="k").record(Row(1, {"k": "\ud800"}, b"{}"))


@given(st.recursive(st.none() | st.booleans() | st.floats() | texts, st.lists, max_leaves=5))
def test_json_is_always_json(value: object) -> None:
    json.loads(json_of(value), parse_constant=pytest.fail)


def test_a_name_tells_the_format_or_is_refused() -> None:
    assert format_of("a/b.CSV") == "csv"
    with pytest.raises(JobRefused, match="--format"):
        format_of("rows.xlsx")
