"""What is read from files of definitions without running them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.pipelines.graph import Flow, Output, Read
from riverlog.pipelines.python_text import read_python
from riverlog.pipelines.sql_text import read_sql
from tests.pipelines.projects import IMPORTS, found_in, write_project

CONSTANTS = """
BROKERS = {"kafka.bootstrap.servers": spark.conf.get("spark.shop.brokers")}
TOPIC = f"{'orders'}-{2}"
MORE: dict = dict(failOnDataLoss=False, **BROKERS)
"""


def read_of(chain: str, configuration: dict[str, str] | None = None) -> Read:
    text = f"{IMPORTS}{CONSTANTS}\n@dp.table\ndef t():\n    return {chain}\n"
    graph = read_python(text, "t.py", {} if configuration is None else configuration)
    (read,) = graph.reads
    return read


def test_every_way_to_define_is_seen() -> None:
    text = """\
import pyspark.pipelines
from pyspark import pipelines as dp
from pyspark.pipelines import append_flow, table as stored

@dp.table
def a(): ...
@stored(name="b", format="DELTA")
def other(): ...
@pyspark.pipelines.materialized_view(comment="x")
def c(): ...
@dp.temporary_view
def d(): ...
dp.create_streaming_table("e")
@append_flow(target="e", name="into_e")
def f(): ...
dp.create_sink(name="g", format="riverlog", options={"topic": "t"})
dp.create_auto_cdc_flow("e", "d", keys=["k"], sequence_by="s")
@other.table
def not_ours(): ...
"""

    graph = read_python(text, "t.py", {})

    assert {(out.name, out.kind, out.format) for out in graph.outputs} == {
        ("a", "table", None),
        ("b", "table", "delta"),
        ("c", "materialized view", None),
        ("d", "view", None),
        ("e", "table", None),
        ("g", "sink", "riverlog"),
    }
    assert Output("g", "sink", "riverlog", {"topic": "t"}, True, "t.py:16") in graph.outputs
    assert {(flow.name, flow.target) for flow in graph.flows} == {
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
        ("into_e", "e"),
        ("e", "e"),
    }


def test_options_are_known_from_constants_and_from_the_configuration() -> None:
    read = read_of(
        'spark.readStream.format("riverlog").options(**MORE).option("subscribe", TOPIC).load()',
        {"spark.shop.brokers": "b:1"},
    )

    assert read.is_streaming
    assert read.is_complete
    assert read.options == {
        "subscribe": "orders-2",
        "failOnDataLoss": "false",
        "kafka.bootstrap.servers": "b:1",
    }


def test_the_last_of_two_values_counts() -> None:
    read = read_of('spark.read.format("riverlog").option("a", 1).option("a", 2).load()')

    assert read.options == {"a": "2"}


@pytest.mark.parametrize(
    ("chain", "is_complete"),
    [
        ('spark.read.format("riverlog").options(**elsewhere).load()', False),
        ('spark.read.format("riverlog").option(name, "1").load()', False),
        ('spark.read.format("riverlog").own().load()', False),
        ('spark.read.format("riverlog").option("a", value()).load()', True),
    ],
)
def test_what_shows_only_when_it_runs_is_not_guessed(chain: str, is_complete: bool) -> None:
    read = read_of(chain)

    assert read.is_complete is is_complete
    assert set(read.options.values()) <= {None}


SQL = """\
/* CREATE TABLE no; */ -- CREATE TABLE no;
CREATE STREAMING TABLE `a b`;
CREATE FLOW `into a` AS INSERT INTO `a b` BY NAME SELECT ';' AS x FROM STREAM s;

create or refresh materialized view if not exists spark_catalog.default.m
using parquet as select 'CREATE TABLE no;' AS t, "it''s;" from s;
CREATE TEMPORARY VIEW v AS SELECT 1;
CREATE STREAMING TABLE r USING riverlog OPTIONS (subscribe 'x') AS SELECT * FROM STREAM s;
SELECT 1; CREATE
"""


def test_statements_of_sql_are_seen_and_texts_and_comments_are_not() -> None:
    graph = read_sql(SQL, "t.sql")

    assert [(out.name, out.kind, out.format, out.place) for out in graph.outputs] == [
        ("a b", "table", None, "t.sql:2"),
        ("spark_catalog.default.m", "materialized view", "parquet", "t.sql:5"),
        ("v", "view", None, "t.sql:7"),
        ("r", "table", "riverlog", "t.sql:8"),
    ]
    assert graph.flows == (
        Flow("into a", "a b", "t.sql:3"),
        Flow("spark_catalog.default.m", "spark_catalog.default.m", "t.sql:5"),
        Flow("r", "r", "t.sql:8"),
    )


def texts_of(pieces: str) -> st.SearchStrategy[str]:
    """These pieces in any order, and anything between them."""
    return st.lists(st.sampled_from(pieces.split("|")) | st.text(max_size=3)).map("".join)


@settings(deadline=None)
@given(
    texts_of(
        "CREATE |FLOW |STREAMING TABLE |AS |INSERT INTO |USING |OPTIONS(|`|'|--|/*|*/|;|\n|a|"
        "IF NOT EXISTS |OR REFRESH |MATERIALIZED VIEW "
    )
)
def test_any_text_is_read_as_sql(text: str) -> None:
    graph = read_sql(text, "t.sql")

    assert all(flow.target for flow in graph.flows)


@settings(deadline=None)
@given(
    texts_of(
        "@dp.table\n|@dp.append_flow(target=1)\n|def f(): return |dp.create_sink(|**a, |spark.read|"
        '.format(|.options(**{1: 2})|.option()|.load()|"x"|)|\n'
    )
)
def test_any_text_is_read_as_python_or_is_no_python(text: str) -> None:
    try:
        graph = read_python(IMPORTS + text, "t.py", {})
    except (SyntaxError, ValueError):
        return
    assert all(isinstance(flow.target, str) for flow in graph.flows)


@pytest.mark.client("pyyaml")
def test_files_that_cannot_be_read_are_told_line_by_line(tmp_path: Path) -> None:
    spec = write_project(tmp_path, {"a.py": "def (:\n", "b.txt": "x", "c.py": "x = 1\0\n"})
    (tmp_path / "transformations" / "d.sql").write_bytes(b"\xff")

    assert found_in(spec) == [
        "transformations/a.py:2: is no Python: invalid syntax",
        "transformations/b.txt: definitions are .py and .sql; move this away",
        "transformations/c.py:1: is no Python: it holds a null byte",
        "transformations/d.sql: is no readable text in UTF-8",
    ]


@pytest.mark.client("pyyaml")
def test_a_project_without_definitions_is_told(tmp_path: Path) -> None:
    spec = write_project(tmp_path, {})

    assert found_in(spec) == ["spark-pipeline.yml: no file is there for 'transformations/**'"]
