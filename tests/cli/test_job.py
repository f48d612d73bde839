"""`riverlog job`: what is said, exit codes, and damage found in a broker's data."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pyarrow.dataset as ds
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riverlog.cli.arguments import flags_of
from riverlog.cli.commands import parser_of
from tests.broker_process import BrokerProcess
from tests.cli.broker_commands import riverlog
from tests.cli.data_on_disk import batches, contents, write_data, write_journal, write_segment
from tests.cli.running import Ended, run, run_here

SEALED = "00000000000000000000.log"


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    path.write_text("id,name\n1,one\n2,two\n3,three\n")
    return str(path)


def new_topic() -> str:
    return f"t-{uuid4().hex}"


def test_rows_go_in_and_a_table_comes_out(
    shared_broker: BrokerProcess, rows: str, tmp_path: Path
) -> None:
    topic, table = new_topic(), str(tmp_path / "table")

    imported = riverlog(shared_broker, "job", "import", rows, topic, "--key", "id")
    exported = riverlog(shared_broker, "job", "export", topic, table)
    again = riverlog(shared_broker, "job", "export", topic, table, "--json")

    assert imported == (0, b"3 rows were published\n", b"")
    assert exported.code == 0
    assert exported.out.startswith(f"3 rows of {topic} in ".encode())
    assert exported.out.endswith(b"the table has 3 rows\n")
    assert json.loads(again.out)["row_count"] == 0
    found = ds.dataset(table, partitioning="hive").to_table().to_pylist()
    assert {row["key"]: json.loads(row["value"]) for row in found} == {
        b"1": {"id": "1", "name": "one"},
        b"2": {"id": "2", "name": "two"},
        b"3": {"id": "3", "name": "three"},
    }


def test_a_bad_row_ends_an_import_with_one_line(shared_broker: BrokerProcess, rows: str) -> None:
    topic = new_topic()
    with open(rows, "a") as file:
        file.write("4,four,4\n5,five\n")

    said = riverlog(shared_broker, "job", "import", rows, topic)

    assert said == (
        1,
        b"",
        f"riverlog: {rows}, row 4: line 5: 3 fields, and the first line names 2; 3 rows are in"
        f" {topic}, and another run adds them again (see --id)\n".encode(),
    )


def test_bad_rows_can_be_left_out_and_noted(
    shared_broker: BrokerProcess, rows: str, tmp_path: Path
) -> None:
    with open(rows, "a") as file:
        file.write("4,four,4\n5,five\n")
    bad = tmp_path / "bad.jsonl"

    said = riverlog(shared_broker, "job", "import", rows, new_topic(), "--skip-bad", str(bad))

    assert said == (0, f"4 rows were published; 1 bad rows are in {bad}\n".encode(), b"")
    noted = json.loads(bad.read_text())
    assert (noted["file"], noted["row"]) == (rows, 4)


def test_a_marked_import_can_be_repeated(shared_broker: BrokerProcess, rows: str) -> None:
    words = ["job", "import", rows, new_topic(), "--id", "monday", "--json"]

    first = riverlog(shared_broker, *words)
    second = riverlog(shared_broker, *words)

    assert json.loads(first.out) == {"published": 3, "present": 0, "bad": 0}
    assert json.loads(second.out) == {"published": 0, "present": 3, "bad": 0}


def test_fields_may_be_separated_by_anything(shared_broker: BrokerProcess, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id\tname\n1\tone, two\n")
    topic = new_topic()

    words = ["job", "import", str(tmp_path / "rows.csv"), topic, "--delimiter", "\\t"]
    assert riverlog(shared_broker, *words).code == 0

    said = riverlog(shared_broker, "consume", topic)
    assert said.out == b'{"id":"1","name":"one, two"}\n'


def test_a_dry_run_publishes_nothing(shared_broker: BrokerProcess, rows: str) -> None:
    topic = new_topic()

    said = riverlog(shared_broker, "job", "import", rows, topic, "--dry-run")

    assert said == (0, b"3 rows can be published\n", b"")
    assert riverlog(shared_broker, "topic", "describe", topic).code == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["import", "ROWS", "t", "--key", "none"], "has no column 'none': it has id, name"),
        (["import", "ROWS", "t", "--id", "a/b"], "letters, digits"),
        (["import", "ROWS", "t", "--delimiter", "ab"], "one character"),
        (["import", "ROWS", "missing.csv", "t"], "No such file or directory: missing.csv"),
        (["import", "README", "t"], "--format"),
        (["import", "EMPTY.csv", "t"], "names no columns"),
        (["import", "ROWS", "t", "--format", "parquet"], "is no Parquet file"),
        (["import", "DIRECTORY", "t", "--format", "csv"], "is a directory"),
        (["import", "ROWS"], "required: TOPIC"),
        (["export", "t"], "required: DIR"),
        (["export", "t", "d", "--from", "noon"], "is no place"),
        (["export", "t", "d", "--rows-per-file", "0"], "not between"),
        (["audit", "missing"], "No such file or directory: missing"),
        (["audit", "README"], "no file of Riverlog's"),
        (["audit", "DIRECTORY"], "holds no segments"),
        (["audit"], "required: PATH"),
        ([], "required: COMMAND"),
        (["rewind"], "invalid choice"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_line(
    rows: str, tmp_path: Path, words: list[str], expected: str
) -> None:
    (tmp_path / "README").write_text("hello\n" * 100)
    (tmp_path / "EMPTY.csv").write_text("")
    (tmp_path / "DIRECTORY").mkdir()
    real = {name: str(tmp_path / name) for name in ("README", "EMPTY.csv", "DIRECTORY")}
    real["ROWS"] = rows

    ended = run_here("job", *(real.get(word, word) for word in words))

    assert expected in ended.complaint


def test_a_missing_topic_leaves_no_directory(shared_broker: BrokerProcess, tmp_path: Path) -> None:
    said = riverlog(shared_broker, "job", "export", "nowhere", str(tmp_path / "table"))

    assert said.code == 1
    assert said.err.count(b"\n") == 1
    assert not (tmp_path / "table").exists()


def test_two_exports_into_one_directory_do_not_meet(
    shared_broker: BrokerProcess, rows: str, tmp_path: Path
) -> None:
    from riverlog.stores.directory_lock import DirectoryLock

    topic = new_topic()
    riverlog(shared_broker, "job", "import", rows, topic)
    (tmp_path / "table").mkdir()
    with DirectoryLock(str(tmp_path / "table")):
        said = riverlog(shared_broker, "job", "export", topic, str(tmp_path / "table"))

    assert said.code == 2
    assert b"in use by another process" in said.err


def test_without_a_broker_it_says_so(tmp_path: Path, rows: str) -> None:
    where = ["--bootstrap", "127.0.0.1:1", "--timeout", "1"]

    for words in (["import", rows, "t"], ["export", "t", str(tmp_path / "table")]):
        ended = run_here("job", *words, *where)

        assert (ended.code, ended.err.count("\n")) == (1, 1), ended


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path) -> None:
    words = ["job", "export", "t", str(tmp_path / "table")]
    code = (
        "import sys; sys.modules['pyarrow'] = None; from riverlog.cli.main import main;"
        f" sys.exit(main({words}))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 2
    assert ended.stderr == "riverlog: this needs pyarrow: pip install riverlog[arrow]\n"


FLAGS = sorted(set(flags_of(parser_of("job"))) - {"--help", "-h", "--skip-bad"})
words = st.text(st.characters(exclude_characters="\0"), max_size=8) | st.sampled_from(
    ["id", "name", "csv", "parquet", "jsonl", ",", "\\t", "1", "-1", "earliest"]
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(FLAGS), st.lists(words, max_size=1)), max_size=3))
def test_any_flags_give_an_exit_code_and_one_line_at_most(
    rows: str, flags: list[tuple[str, list[str]]]
) -> None:
    given_ = [word for flag, values in flags for word in (flag, *values)]
    for job in (["import", rows, "t", "--dry-run"], ["audit", rows]):
        ended = run_here("job", *job, *given_)

        assert ended.code in (0, 1, 2), ended
        assert ended.err.count("\n") == (ended.code != 0), ended


# Audit


def damaged_files(ended: Ended) -> set[str]:
    found = json.loads(ended.out)["findings"]
    damaged = {finding["path"] for finding in found if finding["is_damage"]}
    assert ended.code == (1 if damaged else 0)
    assert ended.err == ""
    return damaged


def test_sound_data_is_called_sound_and_left_alone(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    before = contents(tmp_path)

    ended = run_here("job", "audit", str(tmp_path / "data"))

    assert ended.code == 0
    assert ended.out.startswith("5 segments, ")
    assert ended.out.endswith("everything is sound.\n")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("threads", ["1", "3"])
def test_one_changed_byte_blames_its_segment_alone(tmp_path: Path, threads: str) -> None:
    partition = tmp_path / "p"
    data = {base: batches(base, 25) for base in range(0, 800, 100)}
    for base, content in data.items():
        write_segment(partition, base, content, sealed=True)
    for base, content in data.items():
        path = partition / f"{base:020d}.log"
        for position in range(3, len(content), 397):
            changed = bytearray(content)
            changed[position] ^= 0x10
            path.write_bytes(changed)

            ended = run_here("job", "audit", str(partition), "--json", "--jobs", threads)

            assert damaged_files(ended) == {str(path)}, position
        path.write_bytes(content)


def test_it_finds_what_inspect_finds(tmp_path: Path) -> None:
    partition = write_data(tmp_path / "data")
    write_journal(tmp_path / "data")
    for number, path in enumerate(sorted((tmp_path / "data").rglob("*.*"))):
        copy = tmp_path / str(number)
        shutil.copytree(tmp_path / "data", copy)
        target = copy / path.relative_to(tmp_path / "data")
        if not target.is_file():
            continue
        content = bytearray(target.read_bytes())
        content[len(content) // 3] ^= 1
        target.write_bytes(content)

        audited = run_here("job", "audit", str(copy), "--json")
        inspected = run_here("inspect", str(copy), "--verify", "--json")

        assert damaged_files(audited) == damaged_files(inspected), path
    assert partition.exists()


def test_a_missing_and_a_cut_segment_are_damage(tmp_path: Path) -> None:
    for base in (0, 20, 40):
        write_segment(tmp_path / "p", base, batches(base, 5), sealed=True)
    os.remove(tmp_path / "p" / f"{20:020d}.log")
    last = tmp_path / "p" / f"{40:020d}.log"
    os.truncate(last, last.stat().st_size - 1)

    ended = run_here("job", "audit", str(tmp_path / "p"))

    assert ended.code == 1
    assert "offsets before this segment are missing" in ended.out
    assert "1 bytes are missing at the end" in ended.out
    assert "damaged." in ended.out


def test_segments_can_be_named_by_themselves(tmp_path: Path) -> None:
    partition = write_data(tmp_path / "data")
    shutil.copy(partition / SEALED, tmp_path / "copy")

    ended = run_here("job", "audit", str(partition / SEALED), str(tmp_path / "copy"), "--json")

    assert damaged_files(ended) == set()
    assert json.loads(ended.out)["segment_count"] == 2


def test_it_runs_beside_a_broker(broker: BrokerProcess, rows: str) -> None:
    riverlog(broker, "job", "import", rows, "t")

    ended = run("job", "audit", str(broker.data))

    assert (ended.code, ended.err) == (0, "")
    assert "everything is sound" in ended.out
