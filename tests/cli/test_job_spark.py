"""`riverlog job … --on`: where a job runs, what is said of it, and all of them on a real Spark."""

import io
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from riverlog.cli import job_spark
from riverlog.cli.arguments import new_parser
from riverlog.cli.job_spark import HERE, MASTER, SPARK_BYTES_MIN, add_place, choose_master
from riverlog.cli.refusals import Refused
from tests.broker_process import BrokerProcess
from tests.cli.data_on_disk import batches, write_segment
from tests.cli.running import run_here

NO_JAVA = {"PATH": "/nonexistent", "JAVA_HOME": ""}
RUN_S_MAX = 240


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    path.write_text("id,name\n1,one\n2,two\n3,three\n")
    return str(path)


@pytest.fixture
def segments(tmp_path: Path) -> str:
    for base in (0, 20):
        write_segment(tmp_path / "p", base, batches(base, 5), sealed=True)
    return str(tmp_path / "p")


@pytest.fixture
def can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark could run here; nothing starts it."""
    monkeypatch.setattr(job_spark, "_lack", lambda: None)


def chosen(*words: str, size_bytes: int, **reasons: str) -> str | None:
    parser = new_parser("job", "", "")
    add_place(parser)
    return choose_master(parser.parse_args(words), lambda: size_bytes, **reasons)


@pytest.mark.usefixtures("can_run")
@pytest.mark.parametrize(
    ("words", "size_bytes", "expected", "told"),
    [
        ((), SPARK_BYTES_MIN - 1, None, ""),
        ((), SPARK_BYTES_MIN, MASTER, "on Spark at local[*]: 512.0 MiB, and Spark pays off"),
        (("--on", HERE), SPARK_BYTES_MIN, None, ""),
        (("--on", "spark"), 0, MASTER, "on Spark at local[*], as asked"),
        (("--master", "local[3]"), 0, "local[3]", "on Spark at local[3], as asked"),
        (("--master", "spark://h:7077", "--on", "auto"), 0, None, ""),
        (
            ("--master", "spark://h:7077", "--on", "auto"),
            SPARK_BYTES_MIN,
            "spark://h:7077",
            "h:7077",
        ),
    ],
)
def test_size_decides_unless_somebody_has(
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    size_bytes: int,
    expected: str | None,
    told: str,
) -> None:
    assert chosen(*words, size_bytes=size_bytes) == expected

    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == bool(told)


@pytest.mark.usefixtures("can_run")
def test_what_cannot_or_need_not_go_to_spark_stays_and_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert chosen(size_bytes=SPARK_BYTES_MIN, only_here="there is no id") is None
    assert chosen(size_bytes=SPARK_BYTES_MIN, gains_nothing="it is as fast") is None
    assert chosen("--on", "spark", size_bytes=0, gains_nothing="it is as fast") == MASTER
    with pytest.raises(Refused, match="there is no id"):
        chosen("--on", "spark", size_bytes=0, only_here="there is no id")

    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "riverlog: in this process, though there are 512.0 MiB: there is no id",
        "riverlog: in this process, though there are 512.0 MiB: it is as fast",
    ]


def test_people_are_told_of_small_jobs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)

    assert chosen(size_bytes=2048) is None

    said = "riverlog: in this process: 2.0 KiB, and Spark pays off from 512.0 MiB on\n"
    assert terminal.getvalue() == said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--on", "spark"], "Java 17 or newer"),
        (["--master", "local[2]"], "Java 17 or newer"),
        (["--on", "here", "--master", "local[2]"], "does without it"),
        (["--master", "sc://host"], "Connect server"),
        (["--master", "local[x]"], "no master"),
        (["--master", "spark://host"], "no master"),
        (["--on", "flink"], "invalid choice"),
    ],
)
def test_what_cannot_be_is_one_line(segments: str, words: list[str], expected: str) -> None:
    ended = run_here("job", "audit", segments, *words, variables=NO_JAVA)

    assert expected in ended.complaint


@pytest.mark.client("spark")
def test_a_master_that_does_not_answer_is_told_of_before_spark_starts(segments: str) -> None:
    ended = run_here("job", "audit", segments, "--master", "spark://127.0.0.1:1,127.0.0.1:2")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[1:] == [
        "riverlog: no Spark master answers at spark://127.0.0.1:1,127.0.0.1:2"
    ]


def test_an_import_without_an_id_does_not_go_to_spark(rows: str) -> None:
    assert "by --id" in run_here("job", "import", rows, "t", "--on", "spark").complaint


def test_without_java_a_large_job_runs_here(
    segments: str, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_spark, "SPARK_BYTES_MIN", 1)

    ended = run_here("job", "import", rows, "t", "--dry-run", variables=NO_JAVA)

    assert (ended.code, ended.out) == (0, "3 rows can be published\n")
    assert ended.err.startswith(
        "riverlog: in this process, though there are 28 B: Spark needs Java"
    )
    assert ended.err.count("\n") == 1


@pytest.mark.client("spark")
@pytest.mark.timeout(300)
def test_every_job_runs_on_spark_and_says_what_it_always_says(
    shared_broker: BrokerProcess, rows: str, segments: str, tmp_path: Path
) -> None:
    topic, table = f"t-{uuid4().hex}", str(tmp_path / "table")
    damaged = Path(segments) / f"{20:020d}.log"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
    at = ["--master", "local[2]"]
    brokers = ["--bootstrap", shared_broker.bootstrap]
    jobs = [
        ["job", "import", rows, topic, "--id", "x", *at, *brokers],
        ["job", "import", rows, topic, "--id", "x", *at, *brokers, "--dry-run"],
        ["job", "export", topic, table, *at, *brokers],
        ["job", "export", topic, table, *at, *brokers],
        ["job", "audit", segments, *at],
    ]
    # One after the other in one process: Java is started once.
    code = f"from riverlog.cli.main import main; print([main(words) for words in {jobs}])"

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=RUN_S_MAX, check=False
    )

    said = ended.stdout.splitlines()
    assert said[:2] == ["3 rows were published", "3 rows can be published"], ended
    assert said[2].startswith(f"3 rows of {topic} in ")
    assert said[3].startswith(f"0 rows of {topic} in 0 files")
    assert str(damaged) in ended.stdout
    assert said[-1] == "[0, 0, 0, 0, 1]"
    # The second export has nothing to do, and starts nothing. Slow machines show bars between.
    told = [line for line in ended.stderr.splitlines() if "░" not in line and "█" not in line]
    assert told == ["riverlog: on Spark at local[2], as asked"] * 4
