"""The same program on executors of their own and through Spark Connect."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import riverlog
from riverlog.spark.workers import VARIABLES

pytestmark = pytest.mark.client("spark")

PROGRAM = Path(__file__).with_name("deployed.py")
RUN_S_MAX = 240


def path_without_this_python() -> str:
    places = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(each for each in places if Path(each) != Path(sys.executable).parent)


@pytest.mark.parametrize(
    "place",
    [
        {"TEST_SPARK_MASTER": "local-cluster[2,1,1024]"},
        {"TEST_SPARK_REMOTE": "local[2]"},
    ],
    ids=["executors", "connect"],
)
def test_a_program_runs_where_spark_is_several_processes(
    tmp_path: Path, place: dict[str, str]
) -> None:
    import pyspark

    # As for a program run by its full path: no Python on the PATH has riverlog.
    environment = {
        **{name: value for name, value in os.environ.items() if name not in VARIABLES},
        **place,
        "PATH": path_without_this_python(),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
    }
    with riverlog.Broker(topics={"in": 3, "out": 2}) as broker:
        with broker.connect() as client:
            client.publish_batch("in", [str(number) for number in range(3000)]).results()

        done = subprocess.run(
            [sys.executable, PROGRAM, broker.bootstrap, str(tmp_path / "checkpoint")],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=RUN_S_MAX,
        )

        assert f"total={sum(range(3000))}" in done.stdout, done.stderr
        table = riverlog.read_arrow("out", bootstrap=broker.bootstrap, columns=["value"])
        assert sorted(int(value) for value in table["value"].to_pylist()) == sorted(
            [*range(3000)] * 2
        )
