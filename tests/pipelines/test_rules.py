"""What is known to lose rows or to fail later: each is found, and nothing else is."""

from pathlib import Path

import pytest

from tests.pipelines.projects import BOOTSTRAP, SOURCE, found_in, write_project

pytestmark = pytest.mark.client("pyyaml")

TWO_FLOWS = """\
dp.create_streaming_table("orders"{more})
@dp.append_flow(target="orders")
def north(): return spark.readStream.table("x")
@dp.append_flow(target="{target}")
def south(): return spark.readStream.table("y")
"""


def two_flows(target: str = "orders", more: str = "") -> str:
    return TWO_FLOWS.format(target=target, more=more)


@pytest.mark.parametrize("target", ["orders", "default.Orders", "spark_catalog.default.orders"])
def test_two_flows_into_one_table_of_plain_files_are_refused(tmp_path: Path, target: str) -> None:
    spec = write_project(tmp_path, {"a.py": two_flows(target)})

    (problem,) = found_in(spec)

    assert problem.startswith("transformations/a.py:5: 2 flows write into orders (transformations/")
    assert "loses rows of all but one" in problem


def test_a_flow_of_sql_into_a_table_of_python_is_the_second(tmp_path: Path) -> None:
    files = {
        "a.py": "@dp.table(name='orders')\ndef f(): return spark.readStream.table('x')\n",
        "b.sql": "CREATE FLOW more AS INSERT INTO orders BY NAME SELECT * FROM STREAM y;",
    }

    (problem,) = found_in(write_project(tmp_path, files))

    assert problem.startswith("transformations/b.sql:1: 2 flows write into orders")


def test_a_sink_of_plain_files_loses_them_too(tmp_path: Path) -> None:
    text = two_flows().replace(
        'dp.create_streaming_table("orders")', 'dp.create_sink("orders", "json", {"path": "/x"})'
    )

    (problem,) = found_in(write_project(tmp_path, {"a.py": text}))

    assert "a sink of plain json files" in problem


@pytest.mark.parametrize(
    ("text", "configuration"),
    [
        (two_flows(more=', format="iceberg"'), {}),
        (two_flows(), {"spark.sql.sources.default": "delta"}),
        (two_flows("other.orders"), {}),
        (
            "if x:\n    @dp.table\n    def t(): ...\nelse:\n    @dp.table\n    def t(): ...\n",
            {},
        ),
        (
            two_flows().replace(
                'dp.create_streaming_table("orders")',
                'dp.create_sink("orders", "riverlog", {"kafka.bootstrap.servers": "b:1"})',
            ),
            {},
        ),
    ],
    ids=["a table that merges", "such a default", "another schema", "one or the other", "a topic"],
)
def test_flows_that_lose_nothing_are_let_through(
    tmp_path: Path, text: str, configuration: dict[str, str]
) -> None:
    assert found_in(write_project(tmp_path, {"a.py": text}, configuration)) == []


@pytest.mark.parametrize(
    "name", ["spark.sql.catalogImplementation", "spark.sql.warehouse.dir", "spark.driver.memory"]
)
def test_a_setting_with_which_every_flow_would_fail_is_refused(tmp_path: Path, name: str) -> None:
    (problem,) = found_in(write_project(tmp_path, {"a.sql": "SELECT 1"}, {name: "x"}))

    assert problem.startswith(f"spark-pipeline.yml: {name} counts only when Spark starts")


@pytest.mark.parametrize(
    ("chain", "complaint"),
    [
        (f"{SOURCE}.load()", "one of subscribe, subscribePattern, assign says what to read"),
        (f"{SOURCE}.option('subscribe', 'a').option('startingOffset', 'earliest').load()", "is no"),
        (f"{SOURCE}.option('subscribe', 'a').option('endingOffsets', 'latest').load()", "batch"),
        (
            f"{SOURCE}.option('subscribe', 'a').option('kafka.sasl.mechanism', 'PLAIN').load()",
            "not",
        ),
        ("spark.read.format('riverlog').option('subscribe', 'a').load()", "bootstrap.servers is"),
        ("spark.read.format('riverlog').option('subscribe', TOPIC).load()", "bootstrap.servers is"),
    ],
)
def test_options_that_would_fail_later_are_found(
    tmp_path: Path, chain: str, complaint: str
) -> None:
    spec = write_project(tmp_path, {"a.py": f"@dp.table\ndef t():\n    return {chain}\n"})

    (problem,) = found_in(spec)

    assert problem.startswith("transformations/a.py:4: ")
    assert complaint in problem


@pytest.mark.parametrize(
    "chain",
    [
        f"{SOURCE}.option('subscribe', 'a').load()",
        f"{SOURCE}.option('subscribe', topic()).load()",
        f"{SOURCE}.options(**elsewhere).load()",
        "spark.read.format('riverlog').options(**elsewhere).load()",
        "spark.read.format('kafka').option('anything', 1).load()",
    ],
)
def test_what_is_not_known_yet_is_let_through(tmp_path: Path, chain: str) -> None:
    spec = write_project(tmp_path, {"a.py": f"@dp.table\ndef t():\n    return {chain}\n"})

    assert found_in(spec) == []


def test_options_of_a_sink_are_checked(tmp_path: Path) -> None:
    text = (
        f'dp.create_sink("s", "riverlog", {{"kafka.bootstrap.servers": "{BOOTSTRAP}",'
        ' "topics": "t"})\ndp.create_sink("u", "riverlog", {"topic": "t"})'
    )

    first, second = found_in(write_project(tmp_path, {"a.py": text}))

    assert first.startswith("transformations/a.py:2: sink s: topics is no option of a sink")
    assert second.startswith("transformations/a.py:3: sink u: kafka.bootstrap.servers is needed")


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("a.sql", "CREATE TABLE t USING riverlog OPTIONS (subscribe 'x')", "its OPTIONS never"),
        ("a.sql", "CREATE STREAMING TABLE t USING riverlog AS SELECT 1", "no options reach"),
        ("a.py", '@dp.table(format="riverlog")\ndef t(): ...\n', "no options reach"),
    ],
)
def test_a_table_in_a_topic_is_refused(
    tmp_path: Path, file: str, text: str, complaint: str
) -> None:
    (problem,) = found_in(write_project(tmp_path, {file: text}))

    assert complaint in problem
    assert "dp.create_sink" in problem
