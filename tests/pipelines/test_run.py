"""A project run by real Spark over a real broker: exact rows, run after run."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

import riverlog
from tests.broker_process import BrokerProcess
from tests.cli.running import Ended, command, run_here

pytestmark = [
    pytest.mark.client("pyyaml"),
    pytest.mark.client("spark"),
    pytest.mark.timeout(1_200),
]

RUN_S_MAX = 500
# Each flow starts Pythons that Spark waits for ten seconds: a busy machine may need longer.
GENTLY = """\
  spark.sql.pipelines.execution.maxConcurrentFlows: "1"
  spark.sql.pipelines.execution.watchdog.minRetryTime: "1s"
"""
BROKEN = """\
from pyspark import pipelines as dp

@dp.table
def broken():
    source = spark.readStream.format("riverlog").option("subscribe", "not-there")
    return source.option("kafka.bootstrap.servers", "{bootstrap}").load()
"""
LOOP = """\
from pyspark import pipelines as dp

dp.create_streaming_table("both")

def define(name):
    @dp.append_flow(target="both", name=name)
    def flow():
        return spark.readStream.table("orders")

for name in ("north", "south"):
    define(name)
"""


def pipeline(action: str, project: Path, *arguments: str) -> Ended:
    ended = subprocess.run(
        command("pipeline", action, str(project), *arguments),
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def send(broker: BrokerProcess, ids: range) -> None:
    with riverlog.connect(broker.bootstrap) as client:
        for number in ids:
            order = {"id": number, "customer": f"c{number % 3}", "amount": number * 10.0}
            client.publish("orders", json.dumps(order).encode(), key=str(number).encode())
        client.flush()


def rows(project: Path, table: str) -> list[dict[str, Any]]:
    found = ds.dataset(project / "pipeline-state" / "tables" / table, format="parquet")
    return list(found.to_table().to_pylist())


def ids(project: Path) -> list[int]:
    return sorted(row["id"] for row in rows(project, "orders"))


def sent_on(broker: BrokerProcess) -> list[int]:
    table = riverlog.read_arrow("large-orders", bootstrap=broker.bootstrap)
    return sorted(json.loads(value)["id"] for value in table["value"].to_pylist())


def test_a_pipeline_reads_each_row_once_over_runs_that_fail_and_runs_that_do_not(
    tmp_path: Path, broker: BrokerProcess
) -> None:
    project = tmp_path / "shop"
    assert run_here("pipeline", "init", str(project), "-b", broker.bootstrap).code == 0
    spec = project / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace("libraries:", f"{GENTLY}libraries:"))
    broken = project / "transformations" / "broken.py"
    broken.write_text(BROKEN.format(bootstrap=broker.bootstrap))
    send(broker, range(15))

    # One flow cannot succeed; the others do, and the run says what it was.
    failed = pipeline("run", project, "--offline")

    assert failed.code == 1, failed
    assert failed.err.count("\n") == 1
    assert "run 1 failed: broken: topic not-there: unknown topic" in failed.err
    assert "broken  completed" not in failed.out
    assert os.path.getsize(project / "pipeline-state" / "runs" / "0001.log") > 1000
    assert ids(project) == list(range(15))

    # Mended: only what is new is read, and the tables of the first run are there.
    broken.unlink()
    send(broker, range(15, 20))
    completed = pipeline("run", project, "--json")

    assert completed.code == 0, completed
    events = [json.loads(line) for line in completed.out.splitlines()]
    end = events[-1]
    read = {flow["name"]: (flow["state"], flow["rows"]) for flow in end["flows"]}
    assert end["outcome"] == "completed"
    assert read["orders"] == ("completed", 5)
    assert ids(project) == list(range(20))
    assert sent_on(broker) == list(range(10, 20))
    assert {row["customer"]: (row["orders"], row["amount"]) for row in rows(project, "totals")} == {
        customer: (len(numbers), sum(numbers) * 10.0)
        for customer, numbers in ((f"c{n}", range(n, 20, 3)) for n in range(3))
    }

    status = json.loads(run_here("pipeline", "status", str(project), "--json").out)
    assert [run["outcome"] for run in status["runs"]] == ["failed", "completed"]
    assert {table["name"]: table["rows"] for table in status["tables"]} == {
        "orders": 20,
        "totals": 3,
    }
    assert [(source["group"], source["lag"]) for source in status["sources"]] == [
        ("shop-orders", 0)
    ]

    # What a loop defines no reading of the text can tell; Spark's runner is asked before it runs.
    (project / "transformations" / "loop.py").write_text(LOOP)
    assert run_here("pipeline", "validate", str(project), "--quick").code == 0
    refused = pipeline("validate", project)

    assert refused.complaint.startswith("transformations/loop.py:6: 2 flows write into both (")
