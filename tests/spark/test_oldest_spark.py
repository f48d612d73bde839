"""The same tests with the oldest Spark that we work with; the others here have the newest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import REPOSITORY, oldest_spark

INSTALL_AND_RUN_S_MAX = 1300
RUN_S_MAX = 600
HERE = Path(__file__).parent
FILES = ("test_batch.py", "test_stream.py", "test_deployed.py")


@pytest.mark.client("spark")
@pytest.mark.timeout(INSTALL_AND_RUN_S_MAX)
def test_everything_works_with_the_oldest_spark() -> None:
    packages = oldest_spark() / "packages"
    variables = {**os.environ, "PYTHONPATH": str(packages)}
    version = "import pyspark; print(pyspark.__version__)"
    command = ["-m", "pytest", "-n0", "-q", "-x", *(str(HERE / name) for name in FILES)]

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=REPOSITORY,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=RUN_S_MAX,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert run("-c", version).startswith("4.2.")
    last_line = run(*command).splitlines()[-1]
    assert " passed" in last_line
    assert "skipped" not in last_line
