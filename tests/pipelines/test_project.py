"""`riverlog pipeline` without Spark: what is said, and exit codes."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riverlog.pipelines.spec import load_spec
from riverlog.stores.directory_lock import DirectoryLock
from tests.broker_process import BrokerProcess
from tests.cli.running import run_here
from tests.pipelines.projects import found_in, graph_of, write_project
from tests.pipelines.test_rules import two_flows

pytestmark = pytest.mark.client("pyyaml")

NOWHERE = "127.0.0.1:1"


def test_a_new_project_has_no_problem_and_all_its_values_are_known(tmp_path: Path) -> None:
    made = run_here("pipeline", "init", str(tmp_path / "$my-shöp"), "-b", "b-1:9092")

    spec = load_spec(tmp_path / "$my-shöp" / "spark-pipeline.yml")
    graph = graph_of(spec)
    assert made.code == 0
    assert "made " in made.out
    assert f"cd '{tmp_path}/$my-shöp'" in made.out
    assert found_in(spec) == []
    assert [(out.name, out.kind) for out in graph.outputs] == [
        ("orders", "table"),
        ("large_orders", "sink"),
        ("totals", "materialized view"),
    ]
    assert [read.options["kafka.bootstrap.servers"] for read in graph.reads] == ["b-1:9092"]
    assert [read.options["kafka.group.id"] for read in graph.reads] == ["-my-sh-p-orders"]


@pytest.mark.parametrize("name", ["spark-pipeline.yml", "transformations/totals.sql", "README.md"])
def test_no_file_is_overwritten_nor_made_beside_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "transformations").mkdir()
    (tmp_path / name).write_text("mine")

    ended = run_here("pipeline", "init", str(tmp_path))

    assert ended.complaint.endswith(f"{name} is there already and is left as it is")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [Path(name).name]
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["my shop", "100%", "it's", "a;b"])
def test_a_path_that_spark_would_write_otherwise_is_refused(tmp_path: Path, name: str) -> None:
    ended = run_here("pipeline", "init", str(tmp_path / name))

    assert "without spaces, quotes and percent signs" in ended.complaint
    assert not (tmp_path / name).exists()


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(st.characters(exclude_characters="\0/"), min_size=1, max_size=20), st.integers())
def test_any_name_gives_a_sound_project_or_one_line(tmp_path: Path, name: str, seed: int) -> None:
    path = tmp_path / str(seed) / f"p{name}"

    ended = run_here("pipeline", "init", str(path), "--topic", name)

    if ended.code == 0:
        assert load_spec(path / "spark-pipeline.yml").name == f"p{name}"
        assert found_in(load_spec(path / "spark-pipeline.yml")) == []
    else:
        assert ended.complaint


def test_every_problem_has_a_line(tmp_path: Path) -> None:
    write_project(
        tmp_path,
        {"a.py": two_flows(), "b.sql": "CREATE TABLE t USING riverlog AS SELECT 1"},
    )

    ended = run_here("pipeline", "validate", str(tmp_path))
    as_json = run_here("pipeline", "validate", str(tmp_path), "--json")
    refused = run_here("pipeline", "run", str(tmp_path))

    assert ended.code == as_json.code == refused.code == 2
    assert ended.out == ""
    assert refused.err == ended.err
    assert [line.partition(" ")[2].partition(":")[0] for line in ended.err.splitlines()] == [
        "transformations/a.py",
        "transformations/b.sql",
    ]
    problems = json.loads(as_json.out)["problems"]
    assert [f"riverlog: {each['place']}: {each['text']}" for each in problems] == (
        ended.err.splitlines()
    )
    assert not (tmp_path / "pipeline-state").exists()


def test_a_broker_that_does_not_answer_is_no_fault_of_the_project(tmp_path: Path) -> None:
    run_here("pipeline", "init", str(tmp_path), "-b", NOWHERE)

    asked = run_here("pipeline", "validate", str(tmp_path), "--quick", "--timeout", "1")
    run = run_here("pipeline", "run", str(tmp_path), "--timeout", "1")
    offline = run_here("pipeline", "validate", str(tmp_path), "--quick", "--offline")

    assert asked.code == run.code == 1
    assert asked.err.startswith("riverlog: transformations/orders.py:")
    assert NOWHERE in asked.err
    assert asked.err.count("\n") == 1
    assert offline.code == 0
    assert "1 table, 1 sink, 1 materialized view, 3 flows; no problem in the files" in offline.out


def test_a_topic_that_is_not_there_is_named(tmp_path: Path, shared_broker: BrokerProcess) -> None:
    at = ["-b", shared_broker.bootstrap, "--topic", "not-there"]
    run_here("pipeline", "init", str(tmp_path), *at)

    ended = run_here("pipeline", "validate", str(tmp_path), "--quick")

    assert ended.code == 1
    assert "there is no topic not-there on" in ended.err


def test_status_needs_no_run_and_no_broker(tmp_path: Path) -> None:
    run_here("pipeline", "init", str(tmp_path / "shop"), "-b", NOWHERE)

    ended = run_here("pipeline", "status", str(tmp_path / "shop"), "--timeout", "1")
    as_json = run_here("pipeline", "status", str(tmp_path / "shop"), "--offline", "--json")

    assert ended.code == 0
    assert "it has not been run yet" in ended.out
    assert f"lag is not known: {NOWHERE}" in ended.out
    told = json.loads(as_json.out)
    assert told["runs"] == []
    assert told["tables"] == [{"name": "orders", "rows": None}, {"name": "totals", "rows": None}]
    assert [source["group"] for source in told["sources"]] == ["shop-orders"]


def test_a_run_that_was_cut_off_is_told_from_one_that_runs(tmp_path: Path) -> None:
    run_here("pipeline", "init", str(tmp_path))
    runs = tmp_path / "pipeline-state" / "runs"
    runs.mkdir(parents=True)
    (runs / "history.jsonl").write_text('{"number": 1, "started_ms": 0}\n')
    status = ["pipeline", "status", str(tmp_path), "--offline", "--json"]

    with DirectoryLock(str(tmp_path / "pipeline-state")):
        during = run_here(*status)
    after = run_here(*status)

    assert json.loads(during.out)["runs"][0]["outcome"] == "running"
    assert json.loads(after.out)["runs"][0]["outcome"] == "cut off"


@pytest.mark.parametrize("action", ["validate", "run", "status"])
def test_no_project_is_told_in_a_line(tmp_path: Path, action: str) -> None:
    nowhere = run_here("pipeline", action, str(tmp_path / "nowhere"))
    empty = run_here("pipeline", action, str(tmp_path))

    assert nowhere.complaint.endswith("there is no such project")
    assert "riverlog pipeline init NAME" in empty.complaint


@pytest.mark.parametrize("action", ["validate", "run"])
@pytest.mark.parametrize(
    ("conf", "complaint"),
    [
        ("spark.sql.catalogImplementation=in-memory", "the next run fails with LOCATION_ALREADY"),
        ("driver.memory=2g", "--conf is like spark.driver.memory=2g"),
        ("spark.driver.memory", "--conf is like spark.driver.memory=2g"),
    ],
)
def test_settings_that_help_nobody_are_refused(
    tmp_path: Path, action: str, conf: str, complaint: str
) -> None:
    run_here("pipeline", "init", str(tmp_path))

    ended = run_here("pipeline", action, str(tmp_path), "--conf", conf)

    assert complaint in ended.complaint


@pytest.mark.client("spark")
def test_no_java_is_told_in_a_line(tmp_path: Path) -> None:
    run_here("pipeline", "init", str(tmp_path))
    without = {"JAVA_HOME": str(tmp_path)}

    ended = run_here("pipeline", "validate", str(tmp_path), "--offline", variables=without)

    assert "Java" in ended.complaint
