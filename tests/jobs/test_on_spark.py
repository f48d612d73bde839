"""Jobs on Spark against the same jobs in this process: the same tables, topics and findings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riverlog
from riverlog import NewRecord
from riverlog.jobs import audit
from riverlog.jobs.errors import JobFailed
from riverlog.jobs.export import Asked as ExportAsked
from riverlog.jobs.export_directory import MANIFEST, NOTES, STAGED
from riverlog.jobs.importing import Asked, Counts
from riverlog.jobs.published_rows import whole_topic
from riverlog.jobs.row_files import BadRow
from riverlog.jobs.row_records import Shape
from tests.cli.data_on_disk import batches
from tests.jobs import topics
from tests.jobs.test_audit import stretch_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.client("spark")

# Where and when a row was published is not what an import says.
SAME = ["key", "value", "headers", "partition", "offset"]


@pytest.fixture(scope="module")
def context(spark: "SparkSession") -> "SparkContext":
    return spark.sparkContext


@pytest.fixture(scope="module")
def broker() -> Iterator[riverlog.Broker]:
    with riverlog.Broker(num_partitions=3) as running:
        yield running


def publish(broker: riverlog.Broker, topic: str, start: int, end: int) -> None:
    with broker.connect() as client:
        records = [
            NewRecord(
                f"value {n}", None if n % 5 == 0 else f"key {n}", {"n": str(n)}, partition=n % 3
            )
            for n in range(start, end)
        ]
        client.publish_batch(topic, records).results()


def new_topic(broker: riverlog.Broker) -> str:
    name = f"t-{uuid4().hex}"
    broker.create_topic(name, 3)
    return name


def manifest_of(path: Path) -> str:
    return (path / NOTES / MANIFEST).read_text()


def test_an_export_makes_the_same_table_and_grows_in_the_same_way(
    context: "SparkContext", broker: riverlog.Broker, tmp_path: Path
) -> None:
    from tests.jobs.on_spark import export

    topic, asked = new_topic(broker), ExportAsked(rows_per_file=70)
    here, there = tmp_path / "here", tmp_path / "there"
    for start, end in ((0, 900), (900, 1000)):
        publish(broker, topic, start, end)
        topics.export(broker, topic, here, asked)

        done = export(context, broker.bootstrap, topic, there, asked)

        assert done.row_count == end - start
        assert topics.table_at(there).equals(topics.table_at(here))
        assert manifest_of(there) == manifest_of(here)
        assert list((there / NOTES / STAGED).iterdir()) == []
    assert export(context, broker.bootstrap, topic, there, asked).row_count == 0
    assert manifest_of(there) == manifest_of(here)


def test_what_a_task_cannot_do_is_told_in_a_sentence_and_nothing_is_left(
    context: "SparkContext", broker: riverlog.Broker, tmp_path: Path
) -> None:
    from tests.jobs.on_spark import export

    topic = new_topic(broker)
    publish(broker, topic, 0, 600)
    broker.faults.fail("Fetch", "TOPIC_AUTHORIZATION_FAILED", times=None)
    try:
        with pytest.raises(JobFailed) as told:
            export(context, broker.bootstrap, topic, tmp_path / "table", ExportAsked())
    finally:
        broker.faults.clear()

    assert "\n" not in str(told.value)
    assert topic in str(told.value)
    assert list((tmp_path / "table" / NOTES / STAGED).iterdir()) == []
    done = export(context, broker.bootstrap, topic, tmp_path / "table", ExportAsked())
    assert done.table_row_count == 600


def test_an_audit_blames_the_same_segment(context: "SparkContext", tmp_path: Path) -> None:
    from riverlog.jobs.on_spark import auditing

    stretches = [stretch_of(tmp_path / f"{n}.log", batches(n, 5)) for n in range(12)]
    (tmp_path / "3.log").unlink()
    changed = bytearray((tmp_path / "7.log").read_bytes())
    changed[len(changed) // 2] ^= 1
    (tmp_path / "7.log").write_bytes(changed)
    read: list[int] = []

    checked = list(auditing.check_all(context, stretches, read.append))

    assert checked == list(audit.check_all(stretches, 2, lambda _: None))
    assert {n: each.is_sound for n, each in enumerate(checked) if not each.is_sound} == {
        3: None,
        7: False,
    }
    assert sum(read) >= 10 * stretches[0].size_bytes


def test_an_import_makes_the_same_topic_and_adds_nothing_twice(
    context: "SparkContext",
    broker: riverlog.Broker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from riverlog.jobs.on_spark import import_parts
    from tests.jobs.on_spark import import_rows

    monkeypatch.setattr(import_parts, "PART_BYTES", 10_000)
    rows = [{"n": n, "k": f"k{n % 17}"} for n in range(3000)]
    lines = tmp_path / "a.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows[:2000])))
    table = tmp_path / "b.parquet"
    pq.write_table(pa.Table.from_pylist(rows[2000:]), table, row_group_size=150)
    asked = Asked([str(lines), str(table)], shape=Shape(key="k"), import_id="x")
    here, there = new_topic(broker), new_topic(broker)
    topics.import_rows(broker, here, asked)

    first = import_rows(context, broker.bootstrap, there, asked)
    second = import_rows(context, broker.bootstrap, there, asked)

    assert (first, second) == (Counts(published=3000), Counts(present=3000))
    expected = topics.topic_table(broker, here).select(SAME)
    assert topics.topic_table(broker, there).select(SAME).equals(expected)


def test_an_import_goes_on_where_one_in_this_process_ended(
    context: "SparkContext", broker: riverlog.Broker, tmp_path: Path
) -> None:
    from tests.jobs.on_spark import import_rows

    source = tmp_path / "rows.csv"
    source.write_text("id,name\n" + "".join(f"{n},name {n}\n" for n in range(100)) + "bad\n")
    asked, topic = Asked([str(source)], import_id="x"), new_topic(broker)
    with pytest.raises(JobFailed, match="100 rows are in"):
        topics.import_rows(broker, topic, asked)
    with source.open("a") as file:
        file.write("".join(f"{n},name {n}\n" for n in range(100, 150)))
    noted: list[tuple[str, BadRow]] = []

    with pytest.raises(JobFailed, match=r"rows\.csv, row 101: .*; no row was published"):
        import_rows(context, broker.bootstrap, topic, asked)
    counts = import_rows(
        context, broker.bootstrap, topic, asked, lambda path, row: noted.append((path, row))
    )

    assert counts == Counts(published=50, present=100, bad=1)
    assert [(path, row.number) for path, row in noted] == [(str(source), 101)]
    values = topics.topic_table(broker, topic)["value"].to_pylist()
    assert sorted(int(json.loads(value)["id"]) for value in values) == list(range(150))


def test_rows_that_are_there_twice_are_told_of(
    context: "SparkContext", broker: riverlog.Broker, tmp_path: Path
) -> None:
    from riverlog.client.settings import ClientSettings
    from riverlog.jobs.on_spark import import_target, importing

    source = tmp_path / "rows.jsonl"
    source.write_text('{"n": 1}\n{"n": 2}\n')
    asked, topic = Asked([str(source)], import_id="x"), new_topic(broker)
    target = import_target.Target(broker.bootstrap, ClientSettings(), topic, "x")
    read = importing.read_files(context, asked, {}, 3, None, lambda _: None)
    with target.brokers() as brokers:
        importing.publish(context, read, target, lambda _: None)
        import_target.check_doubles(
            import_target.marked(context, target, whole_topic(brokers, topic)), topic
        )
        # As a task would that knows nothing of what was published before it.
        importing.publish(context, read, target, lambda _: None)
        marked = import_target.marked(context, target, whole_topic(brokers, topic))

    with pytest.raises(JobFailed, match=r"2 rows are in .* twice"):
        import_target.check_doubles(marked, topic)
