"""`riverlog inspect` over sound data: everything is found, nothing is changed."""

import json
import os
from pathlib import Path

import pytest

from riverlog.cli.record_lines import LineFormat
from tests.broker_process import BrokerProcess
from tests.cli.data_on_disk import (
    TOPIC_ID,
    batches,
    contents,
    write_data,
    write_journal,
    write_json,
    write_partition,
    write_segment,
)
from tests.cli.running import run, run_here


def test_a_data_directory_is_a_tree_of_topics_partitions_and_segments(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    told = run("inspect", str(tmp_path / "data"))
    assert told.code == 0
    assert told.err == ""
    lines = told.out.splitlines()
    assert "cluster the-cluster, epoch 1" in lines[0]
    topic = next(line for line in lines if line.startswith("orders"))
    assert topic.split()[1:3] == ["-", "40"]
    assert TOPIC_ID.hex() in topic
    assert sum("00000000000000000012.log  12..19" in line for line in lines) == 2
    assert lines[-1] == "Seals and checkpoints were read; --verify reads every batch."


def test_verifying_reads_every_batch(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    told = run_here("inspect", str(tmp_path / "data"), "--verify")
    assert (told.code, told.err) == (0, "")
    assert told.out.endswith("Everything was read and is sound.\n")


def test_looking_changes_nothing(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    before = contents(tmp_path)
    assert run_here("inspect", str(tmp_path / "data"), "--records").code == 0
    assert contents(tmp_path) == before


def test_a_running_broker_is_looked_at_without_its_lock(broker: BrokerProcess) -> None:
    told = run("inspect", str(broker.data), "--verify", "--json")
    assert told.code == 0, told
    assert json.loads(told.out)["facts"]["cluster_id"]


def test_what_a_broker_has_written_is_found_again(broker: BrokerProcess) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(20):
        producer.produce("colours", key=b"k", value=b"shade %d" % number)
    assert producer.flush(20) == 0
    broker.terminate()
    told = run("inspect", str(broker.data), "--topic", "colours", "--records", "--json")
    assert told.code == 0, told
    values = [json.loads(line)["value"] for line in told.out.splitlines()]
    assert sorted(values) == sorted(f"shade {number}" for number in range(20))
    broker.start()


def test_a_partition_shows_its_segments_checkpoint_and_what_was_kept_aside(tmp_path: Path) -> None:
    write_partition(tmp_path / "0")
    (tmp_path / "0" / "00000000000000000012.800-0.torn").write_bytes(b"half a batch")
    told = run_here("inspect", str(tmp_path / "0"))
    assert told.code == 0, told
    assert "sealed  0..11" in told.out
    assert "open    12..19" in told.out
    assert "checkpoint  offset 16, log start 0" in told.out
    assert "12 B: a torn end that was cut off" in told.out


def test_segments_that_were_deleted_are_no_damage(tmp_path: Path) -> None:
    write_partition(tmp_path / "0")
    write_json(tmp_path / "0" / "log-start", b'{"log_start_offset": 17}')
    for path in (tmp_path / "0").glob("00000000000000000000.*"):
        path.unlink()
    told = run_here("inspect", str(tmp_path / "0"), "--json")
    assert told.code == 0, told
    assert json.loads(told.out)["facts"]["log_start_offset"] == 17
    assert json.loads(told.out)["facts"]["aside"] == []


@pytest.mark.parametrize("name", ["00000000000000000000.log", "00000000000000000012.log"])
def test_a_segment_is_known_by_its_neighbours(tmp_path: Path, name: str) -> None:
    write_partition(tmp_path)
    told = run_here("inspect", str(tmp_path / name), "--json")
    facts = json.loads(told.out)["facts"]
    assert told.code == 0
    assert facts["state"] == ("sealed" if name.endswith("00.log") else "open")
    assert facts["batch_count"] == (3 if name.endswith("00.log") else 2)


def test_a_segment_copied_under_another_name_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(batches(400, 2))
    told = run_here("inspect", str(tmp_path / "copy"), "--json")
    assert json.loads(told.out)["facts"]["next_offset"] == 408


def test_batches_tell_where_they_are_and_what_is_in_them(tmp_path: Path) -> None:
    write_partition(tmp_path)
    told = run_here("inspect", str(tmp_path), "--batches", "--json")
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert [row["base_offset"] for row in rows] == [0, 4, 8, 12, 16]
    assert [row["codec"] for row in rows] == ["zstd"] * 3 + ["none"] * 2
    assert rows[1]["position"] == rows[0]["size_bytes"]


def test_records_from_an_offset_on_and_so_many(tmp_path: Path) -> None:
    write_partition(tmp_path)
    told = run_here("inspect", str(tmp_path), "--records", "--json", "--from", "10", "--count", "4")
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert [row["offset"] for row in rows] == [10, 11, 12, 13]
    assert rows[0]["value"] == "value 10"
    assert rows[0]["headers"] == [["h", "\\xff"]]


def test_records_can_be_fed_to_produce(tmp_path: Path) -> None:
    write_partition(tmp_path)
    told = run_here("inspect", str(tmp_path), "--records", "--json")
    read = LineFormat(is_json=True).batches([told.out.encode()])
    values = [record.value for records, _ in read for record in records]
    assert values == [b"value %d" % number for number in range(20)]


def test_rows_line_up_under_their_headings(tmp_path: Path) -> None:
    write_partition(tmp_path)
    lines = run_here("inspect", str(tmp_path), "--records", "--count", "2").out.splitlines()
    assert lines[1].index("value") == lines[2].index("value 0") == lines[3].index("value 1")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("checkpoint", '"next_offset": 16'),
        ("00000000000000000000.seal", '"record_count": 12'),
    ],
)
def test_small_files_show_what_they_say(tmp_path: Path, name: str, told: str) -> None:
    write_partition(tmp_path)
    ended = run_here("inspect", str(tmp_path / name))
    assert ended.code == 0
    assert told in ended.out
    assert ended.out.endswith("Its checksum is right.\n")


def test_one_topic_of_many_is_picked_by_name_and_a_slip_is_guessed(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    found = run_here("inspect", str(tmp_path / "data"), "--topic", "orders", "--json")
    assert [topic["name"] for topic in json.loads(found.out)["facts"]["topics"]] == ["orders"]
    said = run_here("inspect", str(tmp_path / "data"), "--topic", "order").complaint
    assert said.endswith("did you mean orders?")


def test_a_topic_s_own_directory_is_shown_by_its_note(tmp_path: Path) -> None:
    partition = write_data(tmp_path / "data")
    told = run_here("inspect", str(partition.parent))
    assert told.code == 0
    assert "orders" in told.out


def test_a_journal_tells_how_much_it_keeps_and_that_no_clean_stop_was(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    path = write_journal(tmp_path / "data")
    told = run_here("inspect", str(tmp_path / "data"))
    assert told.code == 0
    assert "kept for the segments" in told.out
    assert "its next start puts this back into the segments" in told.out
    for looked_at in (path, path.parent):
        lines = run_here("inspect", str(looked_at)).out.splitlines()
        assert lines[1].split()[:3] == [path.name, "2", "3"]


def test_a_sync_that_failed_leaves_a_note_and_no_damage(tmp_path: Path) -> None:
    path = write_segment(tmp_path, 0, batches(0, 2), sealed=True)
    path.write_bytes(path.read_bytes() + b"never synced")
    told = run_here("inspect", str(tmp_path))
    assert told.code == 0
    assert "the last 12 bytes do not count: a sync failed there" in told.out


def test_what_is_not_ours_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "newer").mkdir()
    write_json(tmp_path / "newer" / "format.json", b'{"format": 9}')
    for name in ["thesis.txt", "pipe", "missing", "newer", ""]:
        assert run_here("inspect", str(tmp_path / name)).complaint
    assert "newer Riverlog" in run_here("inspect", str(tmp_path / "newer")).complaint
    assert "--topic" in run_here("inspect", str(tmp_path / "thesis.txt"), "--topic", "a").complaint
