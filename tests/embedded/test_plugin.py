"""The pytest plugin, as a project that has installed Riverlog sees it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import riverlog
from tests.embedded.talking import TOPIC, partition_counts, produce, values

# What a fixture may take at most, in time of the processor: others may be using the machine.
START_S_MAX = 0.3
RUNS_MAX = 5

SETTINGS = """\
[pytest]
addopts = --strict-markers --strict-config -p no:cacheprovider -p no:asyncio -p no:hypothesispytest
filterwarnings = error
"""

# Notes what the fixtures took, and what is left when all tests have ended.
CONFTEST = """\
import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

taken_s = []
had_broker_before = "riverlog.app" in sys.modules


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    started_s = time.process_time()
    result = yield
    if fixturedef.argname.startswith("riverlog"):
        taken_s.append(time.process_time() - started_s)
    return result


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    noted = {
        "taken_s": taken_s,
        "had_broker_before": had_broker_before,
        "threads": [t.name for t in threading.enumerate() if "riverlog" in t.name],
        "listening": sorted(set(_sockets()) & set(_listening())),
    }
    Path(__file__).with_name(f"{worker}.json").write_text(json.dumps(noted))


def _sockets():
    for number in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass


def _listening():
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A":
            yield f"socket:[{fields[9]}]"
"""

TESTS = """\
import pytest


@pytest.mark.riverlog(topics={"orders": 3})
@pytest.mark.parametrize("number", range(8))
def test_each_has_a_broker_of_its_own(riverlog_broker, number):
    with riverlog_broker.connect() as client:
        assert client.publish("orders", b"x", partition=2).offset == 0


def test_one_is_shared(riverlog_session_broker):
    riverlog_session_broker.create_topic("shared")


def test_it_is_not_the_other_one(riverlog_session_broker, riverlog_broker):
    assert riverlog_session_broker.bootstrap != riverlog_broker.bootstrap
"""


def run(directory: Path, tests: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    for name, text in {
        "pytest.ini": SETTINGS,
        "conftest.py": CONFTEST,
        "test_sample.py": tests,
    }.items():
        (directory / name).write_text(text)
    # Compiled once and kept, as with any installed package.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(directory.parent / "compiled")}
    # The second: this may itself be one of several processes.
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def noted_by(directory: Path, process: str) -> Any:  # JSON, as CONFTEST writes it
    return json.loads((directory / f"{process}.json").read_text())


def test_fixtures_start_quickly_load_late_and_leave_nothing_behind(tmp_path: Path) -> None:
    slowest_s = []
    # The first run compiles, and any may be disturbed by what else this machine does.
    for _ in range(RUNS_MAX):
        done = run(tmp_path, TESTS)
        assert "10 passed" in done.stdout, done.stdout + done.stderr
        noted = noted_by(tmp_path, "main")
        assert len(noted["taken_s"]) == 10
        assert not noted["had_broker_before"]
        assert noted["threads"] == []
        assert noted["listening"] == []
        slowest_s.append(max(noted["taken_s"]))
        if slowest_s[-1] < START_S_MAX and len(slowest_s) > 1:
            return
    pytest.fail(f"the slowest fixture of each run took {slowest_s} s")


def test_fixtures_work_in_four_processes_at_once(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, "-n", "4")
    assert "10 passed" in done.stdout, done.stdout + done.stderr
    for worker in ("gw0", "gw1", "gw2", "gw3"):
        noted = noted_by(tmp_path, worker)
        assert noted["threads"] == []
        assert noted["listening"] == []


def test_a_marker_that_cannot_be_is_an_error_of_that_test(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "import pytest\n\n"
        '@pytest.mark.riverlog({"orders": 3})\n'
        "def test_unnamed(riverlog_broker): pass\n\n"
        "@pytest.mark.riverlog(num_partition=3)\n"
        "def test_misspelt(riverlog_broker): pass\n\n"
        "def test_other(riverlog_broker): pass\n",
    )
    assert "1 passed, 2 errors" in done.stdout, done.stdout + done.stderr
    assert "write @pytest.mark.riverlog(topics=" in done.stdout
    assert "did you mean num_partitions?" in done.stdout


@pytest.mark.riverlog(topics={TOPIC: 1, "kept": 2}, auto_create_topics=False)
class TestMarkers:
    """Marks of a class and of a test in it are taken together."""

    @pytest.mark.riverlog(topics={TOPIC: 5}, num_partitions=7)
    def test_the_nearest_wins(self, riverlog_broker: riverlog.Broker) -> None:
        riverlog_broker.create_topic("new")
        counts = partition_counts(riverlog_broker.address, TOPIC, "kept", "new")
        assert counts == {TOPIC: 5, "kept": 2, "new": 7}

    def test_the_clock_and_the_faults_are_at_hand(self, riverlog_broker: riverlog.Broker) -> None:
        riverlog_broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
        assert produce(riverlog_broker.address, b"refused").error_code == 6
        riverlog_broker.advance(60_000)
        riverlog_broker.faults.crash()
        assert produce(riverlog_broker.address, b"kept").error_code == 0
        assert values(riverlog_broker.address) == [b"kept"]
