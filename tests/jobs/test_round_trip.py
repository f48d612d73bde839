"""Rows into a topic and out into a table: what comes out is what went in."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import riverlog
from riverlog.client.errors import ClientError
from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.import_marks import HEADER, RowSet
from riverlog.jobs.importing import Asked, Counts
from riverlog.jobs.row_records import Shape
from tests.cli.running import command
from tests.jobs.topics import export, import_rows, table_at, topic_table

NOON_MS = 1_769_860_800_000

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | texts
rows_of_json = st.fixed_dictionaries(
    {"key": st.none() | texts, "at": st.integers(0, NOON_MS)}, optional={"v": values, "ü": values}
)


@pytest.fixture(scope="module")
def broker() -> Iterator[riverlog.Broker]:
    with riverlog.Broker(num_partitions=3) as running:
        yield running


def write_rows(path: Path, count: int) -> Path:
    lines = (json.dumps({"n": number, "k": f"k{number % 17}"}) for number in range(count))
    path.write_text("\n".join(lines))
    return path


def numbers(broker: riverlog.Broker, topic: str) -> list[int]:
    found = topic_table(broker, topic).column("value").to_pylist()
    return sorted(json.loads(value)["n"] for value in found)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(rows_of_json, max_size=30))
def test_any_rows_come_out_as_they_went_in(
    broker: riverlog.Broker, tmp_path: Path, rows: list[dict[str, object]]
) -> None:
    topic = f"t-{uuid4().hex}"
    broker.create_topic(topic, 3)
    source = tmp_path / "rows.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    shape = Shape(key="key", timestamp="at", headers=("v",))

    counts = import_rows(broker, topic, Asked([str(source)], shape=shape))
    done = export(broker, topic, tmp_path / topic)

    assert counts == Counts(published=len(rows))
    assert done.table_row_count == len(rows)
    found = table_at(tmp_path / topic).to_pylist() if rows else []
    assert sorted(row["value"] for row in found) == sorted(json.dumps(r).encode() for r in rows)
    for row in found:
        source_row = json.loads(row["value"])
        key = source_row["key"]
        assert row["key"] == (None if key is None else key.encode())
        assert round(row["timestamp"].timestamp() * 1000) == source_row["at"]
        assert [pair["key"] for pair in row["headers"]] == ["v"]


def test_rows_of_a_key_keep_their_order(broker: riverlog.Broker, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", 5_000)

    import_rows(broker, "ordered", Asked([str(source)], shape=Shape(key="k")))

    by_key: dict[bytes, list[int]] = {}
    for row in topic_table(broker, "ordered").to_pylist():
        by_key.setdefault(row["key"], []).append(json.loads(row["value"])["n"])
    assert len(by_key) == 17
    assert all(found == sorted(found) for found in by_key.values())


def test_a_csv_column_can_be_the_value(broker: riverlog.Broker, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id,payload\n1,one\n2,\n")

    shape = Shape(key="id", value="payload")
    import_rows(broker, "payloads", Asked([str(tmp_path / "rows.csv")], shape=shape))

    rows = topic_table(broker, "payloads").to_pylist()
    assert {row["key"]: row["value"] for row in rows} == {b"1": b"one", b"2": b""}


def test_a_marked_import_adds_nothing_twice(broker: riverlog.Broker, tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", 2_500)
    asked = Asked([str(source)], import_id="once")

    first = import_rows(broker, "once", asked)
    second = import_rows(broker, "once", asked)
    write_rows(source, 2_600)
    third = import_rows(broker, "once", asked)

    assert first == Counts(published=2_500)
    assert second == Counts(present=2_500)
    assert third == Counts(published=100, present=2_500)
    assert numbers(broker, "once") == list(range(2_600))
    headers = topic_table(broker, "once").column("headers").to_pylist()
    assert {"key": HEADER, "value": b"once/rows.jsonl:1"} in [
        pair for row in headers for pair in row
    ]


def test_marks_of_other_imports_are_not_ours(broker: riverlog.Broker, tmp_path: Path) -> None:
    source = str(write_rows(tmp_path / "rows.jsonl", 10))

    for import_id in ("a", "a.b", None):
        import_rows(broker, "several", Asked([source], import_id=import_id))

    assert numbers(broker, "several") == sorted([*range(10)] * 3)
    assert import_rows(broker, "several", Asked([source], import_id="a")) == Counts(present=10)


def test_a_row_that_the_broker_refuses_is_published_by_the_next_run(
    broker: riverlog.Broker, tmp_path: Path
) -> None:
    source = write_rows(tmp_path / "rows.jsonl", 10_000)
    asked = Asked([str(source)], import_id="refused")
    broker.create_topic("refused", 3)
    with (
        broker.faults.fail("Produce", "TOPIC_AUTHORIZATION_FAILED", times=2),
        pytest.raises((ClientError, JobFailed)),
    ):
        import_rows(broker, "refused", asked)
    broker.faults.clear()

    import_rows(broker, "refused", asked)

    assert numbers(broker, "refused") == list(range(10_000))


def test_an_import_that_was_killed_goes_on_without_doubling_a_row(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", 60_000)
    with riverlog.Broker(data=tmp_path / "data", num_partitions=2) as broker:
        words = ["job", "import", str(source), "killed", "--id", "x", "-b", broker.bootstrap]
        process = subprocess.Popen(command(*words), stderr=subprocess.DEVNULL)
        with broker.connect() as client:
            client.topics.create("killed", partitions=2)
            deadline = time.monotonic() + 30
            while sum(_ends(client)) < 5_000 and time.monotonic() < deadline:
                time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        published = len(numbers(broker, "killed"))

        counts = import_rows(broker, "killed", Asked([str(source)], import_id="x"))

        assert 5_000 <= published < 60_000, "it was killed midway"
        assert counts.published + counts.present == 60_000
        assert numbers(broker, "killed") == list(range(60_000))


def _ends(client: riverlog.Client) -> list[int]:
    return list(client.topics.offsets("killed").values())


def test_two_files_of_one_name_cannot_be_marked(tmp_path: Path) -> None:
    from riverlog.jobs.importing import open_all

    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_rows(tmp_path / name / "rows.jsonl", 1)
    paths = [str(tmp_path / name / "rows.jsonl") for name in ("a", "b")]

    with pytest.raises(JobRefused, match="same name"):
        open_all(Asked(paths, import_id="x"))


@given(st.sets(st.integers(0, 2000)))
def test_a_set_of_rows_has_what_was_added(added: set[int]) -> None:
    rows = RowSet()
    for number in [*added, *added]:
        rows.add(number)

    assert rows.count == len(added)
    assert {number for number in range(2100) if number in rows} == added
