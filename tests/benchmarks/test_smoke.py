"""Every benchmark runs through and counts what it sent. Its figures mean nothing here."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tools import REPOSITORY

RUN_S_MAX = 240

NEEDS_CC = [pytest.mark.client("cc")]
NEEDS_SPARK = [*NEEDS_CC, pytest.mark.client("spark")]
NEEDS_REDIS = [*NEEDS_CC, pytest.mark.client("redis-server")]


@pytest.mark.parametrize(
    ("name", "counts_messages"),
    [
        pytest.param("codec", False),
        pytest.param("imports", False),
        pytest.param("embedded", True),
        pytest.param("batched", True, marks=NEEDS_CC),
        pytest.param("durable", True, marks=NEEDS_CC),
        pytest.param("publishers", True, marks=NEEDS_REDIS),
        pytest.param("footprint", True, marks=NEEDS_CC),
        pytest.param("partitions", True, marks=NEEDS_CC),
        pytest.param("groups", True, marks=NEEDS_CC),
        pytest.param("tables", True),
        pytest.param("pressure", True, marks=NEEDS_CC),
        pytest.param("profiled", True, marks=NEEDS_CC),
        pytest.param("spark_jobs", True, marks=NEEDS_SPARK),
    ],
)
def test_a_benchmark_gives_rows_and_loses_nothing(
    name: str, counts_messages: bool, tmp_path: Path
) -> None:
    tables = _quick_run(name, tmp_path / "figures.json")

    assert tables
    for table in tables:
        assert table["rows"]
        assert all(row["samples"] for row in table["rows"])
        assert bool(table["counts"]) == counts_messages
        assert all(count["found"] == count["wanted"] > 0 for count in table["counts"])


def test_a_benchmark_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    done = _run("nonsense", tmp_path / "figures.json")

    assert done.returncode == 2
    assert "no such benchmark: nonsense" in done.stderr


def _quick_run(name: str, figures: Path) -> list[dict[str, Any]]:  # as JSON gives them
    done = _run(name, figures)
    assert done.returncode == 0, done.stdout + done.stderr
    tables: list[dict[str, Any]] = json.loads(figures.read_text())["benchmarks"][name]
    return tables


def _run(name: str, figures: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", name, "--quick", "--json", str(figures)]
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=RUN_S_MAX, check=False
    )
