"""What runs leave behind: a history that survives any end, and tables whose rows are counted."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riverlog.pipelines.errors import PipelineRefused
from riverlog.pipelines.events import FlowResult, RunResult
from riverlog.pipelines.history import History
from riverlog.pipelines.state import check_state, conf_of, state_of
from riverlog.pipelines.table_rows import count_rows, table_directory
from riverlog.pipelines.topics_there import Source
from tests.pipelines.projects import write_project

RESULT = RunResult(
    "failed",
    "no x",
    (FlowResult("a", "failed", 3, 1),),
    (Source("b:1", "g", ("t", "u"), "a.py:1"),),
    ("a",),
)


def test_a_run_is_read_as_it_was_told(tmp_path: Path) -> None:
    history = History(tmp_path / "runs")

    first = history.begin(1_000)
    history.end(first, 2_000, RESULT)
    second = history.begin(3_000)

    ended, begun = History(tmp_path / "runs").runs()
    assert (first, second) == (1, 2)
    assert ended == (1, 1_000, 2_000, RESULT)
    assert begun == (2, 3_000, None, None)
    assert history.log_path(2).name == "0002.log"


@pytest.mark.parametrize("kept", range(1, 30))
def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path: Path, kept: int) -> None:
    history = History(tmp_path)
    history.begin(1_000)
    path = tmp_path / "history.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept])

    number = history.begin(2_000)

    assert [run.number for run in history.runs()] == [1, number]


def write_rows(path: Path, count: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": list(range(count))}), path)


def log_lines(directory: Path, *names: str, action: str = "add") -> str:
    entries = [
        json.dumps({"path": (directory / name).as_uri(), "action": action}) for name in names
    ]
    return "\n".join(["v1", *entries])


def test_only_files_in_the_log_of_a_stream_are_rows(tmp_path: Path) -> None:
    table = tmp_path / "a b"
    for name, count in [("1.parquet", 1), ("2.parquet", 2), ("4.parquet", 4), ("8.parquet", 8)]:
        write_rows(table / name, count)
    log = table / "_spark_metadata"
    log.mkdir()
    (log / "0").write_text(log_lines(table, "8.parquet"))
    (log / "1.compact").write_text(log_lines(table, "1.parquet"))
    (log / "2").write_text(log_lines(table, "2.parquet"))
    (log / ".2.crc").write_text("x")

    assert count_rows(table) == 3


def test_a_view_has_all_rows_of_its_files(tmp_path: Path) -> None:
    write_rows(tmp_path / "day=1" / "a.parquet", 2)
    write_rows(tmp_path / "day=2" / "b.parquet", 3)
    write_rows(tmp_path / "_temporary" / "c.parquet", 5)
    (tmp_path / "_SUCCESS").touch()

    assert count_rows(tmp_path) == 5


def test_rows_of_other_files_are_not_known(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n")

    assert count_rows(tmp_path) is None
    assert count_rows(tmp_path / "nowhere") is None


def test_a_table_is_where_the_catalog_puts_it() -> None:
    tables = Path("/t")

    assert table_directory(tables, "Orders", "default") == Path("/t/orders")
    assert table_directory(tables, "spark_catalog.shop.orders", "default") == Path(
        "/t/shop.db/orders"
    )
    assert table_directory(tables, "orders", "shop") == Path("/t/shop.db/orders")


@pytest.mark.client("pyyaml")
def test_the_catalog_is_kept_in_the_project(tmp_path: Path) -> None:
    spec = write_project(tmp_path, {})

    conf = conf_of(spec, {"spark.ui.enabled": "true"})

    assert conf["spark.sql.catalogImplementation"] == "hive"
    assert str(tmp_path) in conf["spark.hadoop.javax.jdo.option.ConnectionURL"]
    assert conf["spark.ui.enabled"] == "true"
    assert conf["spark.sql.warehouse.dir"] == str(tmp_path / "pipeline-state" / "tables")


@pytest.mark.client("pyyaml")
def test_tables_that_the_catalog_does_not_know_are_told_before_spark_trips_over_them(
    tmp_path: Path,
) -> None:
    spec = write_project(tmp_path, {})
    state = state_of(spec)
    (state.tables / "orders").mkdir(parents=True)

    with pytest.raises(PipelineRefused, match="has orders, which the catalog does not know"):
        check_state(spec)

    state.metastore.mkdir()
    check_state(spec)
