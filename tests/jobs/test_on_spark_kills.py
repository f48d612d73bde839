"""Executors killed with -9 midway: Spark runs their tasks again, and nothing is there twice."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import riverlog
from riverlog.jobs.export_directory import NOTES, STAGED
from tests.jobs import topics
from tests.tools import REPOSITORY

pytestmark = [pytest.mark.client("spark"), pytest.mark.timeout(600)]

ROWS = 600
BACKEND = b"CoarseGrainedExecutorBackend"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds executors by /proc")
def test_killed_executors_leave_no_row_twice_and_none_out(tmp_path: Path) -> None:
    import pyspark

    lines = [json.dumps({"n": n, "k": f"k{n % 40}"}) for n in range(20 * ROWS)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    with riverlog.Broker(topics={"out": 2, "in": 4}) as broker:
        with broker.connect() as client:
            client.publish_batch("out", [f"value {n}" for n in range(ROWS)]).results()
        # Tasks take long enough to be killed in the middle.
        broker.faults.delay("Fetch", 100)
        broker.faults.delay("Produce", 100)
        with (
            subprocess.Popen(
                [sys.executable, "-m", "tests.jobs.cluster_jobs", broker.bootstrap, str(tmp_path)],
                env={**os.environ, "SPARK_HOME": str(Path(pyspark.__file__).parent)},
                cwd=REPOSITORY,
                stdout=subprocess.PIPE,
                text=True,
            ) as program,
            killed_at_the_end(program),
        ):
            assert said(program) == "exporting"
            staged = tmp_path / "table" / NOTES / STAGED
            wait_until(lambda: staged.is_dir() and any(staged.iterdir()))
            kill_an_executor(program.pid)
            assert said(program) == ROWS
            assert said(program) == "importing"
            wait_until(lambda: topics.topic_table(broker, "in").num_rows > 0)
            kill_an_executor(program.pid)
            assert said(program) == len(lines)
            assert program.wait(60) == 0
        broker.faults.clear()

        expected = topics.topic_table(broker, "out")
        found = topics.table_at(tmp_path / "table", expected.column_names)
        assert found.to_pylist() == expected.to_pylist()
        assert list(staged.iterdir()) == []
        values = topics.topic_table(broker, "in")["value"].to_pylist()
        assert sorted(json.loads(value)["n"] for value in values) == list(range(len(lines)))


@contextmanager
def killed_at_the_end(program: subprocess.Popen[str]) -> Iterator[None]:
    """Nobody waits for it when the test has failed."""
    try:
        yield
    finally:
        program.kill()


def said(program: subprocess.Popen[str]) -> object:
    assert program.stdout is not None
    return json.loads(program.stdout.readline())


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not is_so():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def kill_an_executor(program: int) -> None:
    """Kills one, with what it runs, that descends from this program."""
    parents = {int(path.name): parent_of(path) for path in Path("/proc").glob("[0-9]*")}

    def is_ours(pid: int) -> bool:
        while pid in parents:
            if pid == program:
                return True
            pid = parents[pid]
        return False

    executor = next(pid for pid in parents if is_ours(pid) and BACKEND in words_of(pid))
    os.kill(executor, signal.SIGKILL)


def parent_of(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def words_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
