"""Exports against a broker: they grow with the topic, and refuse what would make them untrue."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from uuid import uuid4

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

import riverlog
from riverlog import NewRecord
from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.export import Asked, commit, make_plan, reader_of, run, write
from riverlog.jobs.export_directory import NOTES, ExportDirectory, create_staged
from riverlog.jobs.export_manifest import DataFile
from riverlog.jobs.parquet_files import Piece
from riverlog.stores.disk import OsDisk
from riverlog.tables.brokers import Brokers
from tests.jobs.topics import export, table_at, topic_table

NOON_MS = 1_769_860_800_000


@pytest.fixture(scope="module")
def broker() -> Iterator[riverlog.Broker]:
    with riverlog.Broker() as running:
        yield running


@pytest.fixture
def topic(broker: riverlog.Broker) -> str:
    name = f"t-{uuid4().hex}"
    broker.create_topic(name, 2)
    publish(broker, name, 0, 25)
    return name


def publish(broker: riverlog.Broker, topic: str, start: int, end: int) -> None:
    """Numbered records of every kind, to partitions 0 and 1 in turn, a second apart."""
    with broker.connect() as client:
        records = [
            NewRecord(
                None if n % 7 == 0 else f"value {n}",
                None if n % 5 == 0 else f"key {n}",
                {"n": str(n)} if n % 3 == 0 else None,
                NOON_MS + n * 1000,
                partition=n % 2,
            )
            for n in range(start, end)
        ]
        client.publish_batch(topic, records).results()


def names(path: Path) -> list[str]:
    return sorted(str(file.relative_to(path)) for file in path.rglob("*.parquet"))


def test_the_table_is_the_topic(broker: riverlog.Broker, topic: str, tmp_path: Path) -> None:
    done = export(broker, topic, tmp_path / "table", Asked(rows_per_file=10))

    expected = topic_table(broker, topic)
    assert table_at(tmp_path / "table", expected.column_names).to_pylist() == expected.to_pylist()
    assert done.row_count == done.table_row_count == 25
    assert names(tmp_path / "table") == [
        "partition=0/00000000000000000000-00000000000000000009.parquet",
        "partition=0/00000000000000000010-00000000000000000012.parquet",
        "partition=1/00000000000000000000-00000000000000000009.parquet",
        "partition=1/00000000000000000010-00000000000000000011.parquet",
    ]


def test_another_run_adds_what_is_new_and_nothing_else(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    path = tmp_path / "table"
    export(broker, topic, path)
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()}

    nothing = export(broker, topic, path)
    after = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()}
    with broker.connect() as client:
        client.topics.add_partitions(topic, 3)
        client.publish(topic, "in the new one", partition=2)
    publish(broker, topic, 25, 40)
    more = export(broker, topic, path)

    assert (nothing.row_count, nothing.table_row_count) == (0, 25)
    assert after == before
    assert (more.row_count, more.table_row_count) == (16, 41)
    expected = topic_table(broker, topic)
    assert table_at(path, expected.column_names).to_pylist() == expected.to_pylist()


def test_only_the_columns_asked_for_are_written_and_stay_so(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    export(broker, topic, tmp_path / "table", Asked(columns=("timestamp", "value")))
    publish(broker, topic, 25, 30)

    export(broker, topic, tmp_path / "table")

    found = ds.dataset(tmp_path / "table", partitioning="hive").to_table()
    assert found.column_names == ["value", "timestamp", "partition"]
    assert found.num_rows == 30
    with pytest.raises(JobRefused, match="value,timestamp"):
        export(broker, topic, tmp_path / "table", Asked(columns=("value",)))


@pytest.mark.parametrize(
    "columns", [("nonsense",), ("partition",), ("value", "value"), ()], ids=repr
)
def test_columns_that_make_no_table_are_refused(
    broker: riverlog.Broker, topic: str, tmp_path: Path, columns: tuple[str, ...]
) -> None:
    with pytest.raises(JobRefused, match="column"):
        export(broker, topic, tmp_path / "table", Asked(columns=columns))


def test_it_begins_and_ends_where_it_is_told(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    asked = Asked(start=datetime.fromtimestamp(NOON_MS / 1000 + 4, UTC), until=9)

    export(broker, topic, tmp_path / "table", asked)
    export(broker, topic, tmp_path / "table", asked)
    middle = table_at(tmp_path / "table", ["partition", "offset"]).to_pylist()
    export(broker, topic, tmp_path / "table")

    expected = [{"partition": at, "offset": n} for at in (0, 1) for n in range(2, 9)]
    assert middle == expected
    assert table_at(tmp_path / "table").num_rows == 25 - 4


def test_a_run_that_is_cut_off_has_noted_where_every_partition_begins(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    disk = OsDisk()
    with Brokers(broker.bootstrap) as brokers:
        directory = ExportDirectory(disk, str(tmp_path / "table"))
        plan = make_plan(brokers, topic, directory.manifest, Asked(start=5))
        with pytest.raises(InterruptedError):
            run(plan, disk, directory, reader_of(brokers, topic), interrupt)

    export(broker, topic, tmp_path / "table")

    offsets = table_at(tmp_path / "table", ["partition", "offset"]).to_pylist()
    assert [(row["partition"], row["offset"]) for row in offsets] == [
        *((0, offset) for offset in range(5, 13)),
        *((1, offset) for offset in range(5, 12)),
    ]


def interrupt(_: int) -> None:
    raise InterruptedError


def test_pieces_written_by_other_processes_make_the_same_table(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    asked = Asked(rows_per_file=4)
    export(broker, topic, tmp_path / "here", asked)

    with Brokers(broker.bootstrap) as brokers:
        directory = ExportDirectory(OsDisk(), str(tmp_path / "elsewhere"))
        plan = make_plan(brokers, topic, directory.manifest, asked)
    parts = [part for piece in plan.pieces for part in piece.parts()]
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        work = partial(
            written_elsewhere, broker.bootstrap, topic, directory.path, plan.manifest.columns
        )
        files = [file for files in processes.map(work, parts) for file in files]
        commit(plan, directory, files, lambda _: None)

    assert len(parts) == 7
    assert names(tmp_path / "elsewhere") == names(tmp_path / "here")
    assert table_at(tmp_path / "elsewhere").equals(table_at(tmp_path / "here"))


def written_elsewhere(
    bootstrap: str, topic: str, path: str, columns: tuple[str, ...], piece: Piece
) -> list[DataFile]:
    """What a task on any machine would do that sees the directory and the broker."""
    create = partial(create_staged, OsDisk(), path)
    with Brokers(bootstrap) as brokers:
        return list(write(piece, columns, reader_of(brokers, topic), create))


def test_a_start_beyond_the_end_is_refused(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    with pytest.raises(JobRefused, match="ends at offset 13"):
        export(broker, topic, tmp_path / "table", Asked(start=100))


def test_rows_that_were_deleted_meanwhile_are_told_of(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    export(broker, topic, tmp_path / "table")
    publish(broker, topic, 25, 45)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for future in admin.delete_records([TopicPartition(topic, 0, 18)]).values():
        future.result()

    with pytest.raises(JobFailed, match="offsets 13 to 17 were deleted"):
        export(broker, topic, tmp_path / "table")
    done = export(broker, topic, tmp_path / "table", Asked(skips_lost=True))

    assert done.row_count == 20 - 5
    offsets = table_at(tmp_path / "table", ["partition", "offset"]).to_pylist()
    assert [row["offset"] for row in offsets if row["partition"] == 0] == [
        *range(13),
        *range(18, 23),
    ]


def test_a_topic_made_anew_does_not_go_on_in_the_same_table(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    export(broker, topic, tmp_path / "table")
    with broker.connect() as client:
        client.topics.delete(topic)
        client.topics.create(topic, partitions=2)

    with pytest.raises(JobFailed, match="made anew"):
        export(broker, topic, tmp_path / "table")


def test_a_directory_with_something_else_in_it_is_refused_and_left_alone(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    (tmp_path / "photos").mkdir()

    with pytest.raises(JobRefused, match="holds photos"):
        export(broker, topic, tmp_path)
    export(broker, topic, tmp_path / "table")
    broker.create_topic(f"{topic}-2", 1)
    with pytest.raises(JobRefused, match=f"an export of {topic}"):
        export(broker, f"{topic}-2", tmp_path / "table")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos", "table"]


def test_what_a_killed_run_had_staged_is_removed(
    broker: riverlog.Broker, topic: str, tmp_path: Path
) -> None:
    export(broker, topic, tmp_path / "table")
    left = tmp_path / "table" / NOTES / "staged" / "partition=0.left.parquet"
    left.write_bytes(b"half a file")

    export(broker, topic, tmp_path / "table")

    assert not left.exists()


def test_a_file_has_row_groups_of_a_size_to_be_held_in_memory(
    broker: riverlog.Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riverlog.jobs.parquet_files.ROW_GROUP_BYTES", 1 << 20)
    topic = f"t-{uuid4().hex}"
    broker.create_topic(topic, 1)
    with broker.connect() as client:
        client.publish_batch(topic, [bytes(10_000)] * 2_500).results()

    export(broker, topic, tmp_path / "table")

    file = pq.ParquetFile(next((tmp_path / "table").rglob("*.parquet")))
    assert file.metadata.num_rows == 2_500
    assert file.metadata.num_row_groups >= 3
