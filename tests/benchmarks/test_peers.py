"""The run beside peers: it ends with a page whatever fails, and tells misses as misses."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from benchmarks.clients import Driver, Librdkafka
from benchmarks.peers.aims import judged
from benchmarks.peers.campaign import Campaign
from benchmarks.peers.page import write_page
from benchmarks.peers.results import Results
from benchmarks.peers.target import Target, check_listener
from benchmarks.peers.variants import BY_KEY, Durability, Variant
from benchmarks.peers.visits import CELLS
from benchmarks.rounds import Options
from benchmarks.servers import DidNotStart

from tests.tools import REPOSITORY

RUN_S_MAX = 200
PEERS = ["riverlog", "redis-always"]


@pytest.mark.client("cc")
@pytest.mark.client("redis-server")
@pytest.mark.client("strace")
def test_a_quick_run_measures_all_and_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"

    told = _ran("--quick", "--only", ",".join(PEERS), "--page", str(page))

    found = json.loads(page.with_suffix(".json").read_text())
    assert not found["failures"], told
    assert [visit["variant"] for visit in found["visits"]] == PEERS
    for visit in found["visits"]:
        assert {"start", *CELLS} <= set(visit["cells"])
        assert all(visit["cells"][cell]["count"] > 0 for cell in CELLS)
    for peer in PEERS:
        assert found["durability"][peer]["class"] == Durability.SYNCED.value
    text = page.read_text()
    assert "| one durable publisher, 100 B | Redis, always |" in text
    assert text.count("](pictures/bench-") == len(list((tmp_path / "pictures").glob("*.svg"))) == 4

    _ran("--quick", "--only", ",".join(PEERS), "--page", str(page), "--resume")

    again = json.loads(page.with_suffix(".json").read_text())
    assert again["visits"] == found["visits"], "what was done is not done again"


@pytest.mark.client("cc")
def test_a_server_that_does_not_start_is_told_of_and_the_run_goes_on(tmp_path: Path) -> None:
    @contextmanager
    def broken(directory: Path, options: Options) -> Iterator[Target]:
        raise DidNotStart("no, thank you")
        yield

    absent = BY_KEY["nats-always"]._replace(missing=lambda: "nats-server: from somewhere")
    refusing = BY_KEY["riverlog"]._replace(start=broken, fills_a_million=True)
    results = Results.opened(tmp_path / "benchmarks.json", resumes=False)

    _campaign(tmp_path, results, [absent, refusing])

    assert results.data["skipped"] == {"NATS, always": "nats-server: from somewhere"}
    assert ["no, thank you" in one["why"] for one in results.data["failures"]] == [True] * 3
    write_page(results, tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text()
    assert "left out: NATS, always; nats-server: from somewhere" in text
    assert "round 1 of 1, Riverlog, acks=all: FAILED: DidNotStart: no, thank you" in text


def test_a_miss_is_told_as_a_miss(tmp_path: Path) -> None:
    results = Results.opened(tmp_path / "benchmarks.json", resumes=False)
    rates = {"riverlog": (100.0, 130.0, 90.0), "redis-always": (100.0, 100.0, 100.0)}
    for key, samples in rates.items():
        for number, rate in enumerate(samples):
            cells = {"p1-100": {"per_s": rate, "foreign": 0.0}}
            results.add_visit(number, key, {"cells": cells, "failures": []})

    (one,) = (one for one in judged(results) if one.samples)

    assert one.samples == [1.0, 1.3, 0.9]
    assert one.verdict == "**MISSED** (some rounds reach it)"


def test_what_was_taken_beside_others_work_is_marked(tmp_path: Path) -> None:
    results = Results.opened(tmp_path / "benchmarks.json", resumes=False)
    for number, foreign in enumerate((0.5, 0.02, 0.3)):
        cells = {"p1-100": {"per_s": 1.0, "foreign": foreign}}
        results.add_visit(number, "riverlog", {"cells": cells, "failures": []})
    assert results.is_noisy("riverlog", "p1-100")

    results.forget_noisy_rounds()

    assert [visit["round"] for visit in results.data["visits"]] == [1]


def test_a_visit_with_a_failed_cell_is_made_again(tmp_path: Path) -> None:
    results = Results.opened(tmp_path / "benchmarks.json", resumes=False)
    results.add_visit(0, "riverlog", {"cells": {}, "failures": ["p1-100"]})
    results.add_failure("round 1, Riverlog, p1-100", "lost")

    results.forget_failures()

    assert not results.has_visit(0, "riverlog")
    assert results.data["failures"] == []


def test_a_listener_that_is_not_our_own_is_refused(unused_tcp_port: int) -> None:
    with pytest.raises(DidNotStart):
        check_listener(1, unused_tcp_port)


def test_a_server_that_is_not_known_is_refused_by_name() -> None:
    done = _run("--only", "nonsense")
    assert done.returncode == 2
    assert "no such server: nonsense" in done.stderr


def _campaign(tmp_path: Path, results: Results, variants: list[Variant]) -> None:
    options = Options(is_quick=True)
    driver, librdkafka = Driver(tmp_path, options), Librdkafka(tmp_path, options)
    Campaign(tmp_path, driver, librdkafka, options, results).run(variants, 1)


def _ran(*arguments: str) -> str:
    done = _run(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=RUN_S_MAX,
        check=False,
    )
