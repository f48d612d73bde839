"""`riverlog inspect` over damaged data: it is pointed out, and nothing makes it fall over."""

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riverlog.cluster.facts import BrokerStarted, ClusterFormed
from riverlog.log.checkpoint import Seal
from tests.cli.data_on_disk import (
    RECORDS_IN_BATCH,
    batch,
    batches,
    contents,
    write_checkpoint,
    write_data,
    write_facts,
    write_journal,
    write_json,
    write_partition,
    write_segment,
)
from tests.cli.running import Ended, run_here

SEALED = "00000000000000000000.log"
JOURNAL = "0000000001-0001020304050607.journal"
OPEN = "00000000000000000012.log"


def damage(ended: Ended) -> list[dict[str, object]]:
    assert ended.err == ""
    found = [find for find in json.loads(ended.out)["findings"] if find["is_damage"]]
    assert ended.code == (1 if found else 0)
    return found


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


def test_a_changed_byte_is_found_where_it_is(tmp_path: Path) -> None:
    write_partition(tmp_path)
    data = batches(12, 2)
    flip(tmp_path / OPEN, 100)
    (found,) = damage(run_here("inspect", str(tmp_path), "--json"))
    assert found["path"] == str(tmp_path / OPEN)
    assert (found["position"], found["size_bytes"]) == (0, len(data) // 2)


def test_damage_is_told_to_people_and_makes_the_exit_code_1(tmp_path: Path) -> None:
    write_partition(tmp_path)
    flip(tmp_path / SEALED, 100)
    told = run_here("inspect", str(tmp_path))
    assert told.code == 1
    assert "DAMAGE" in told.out
    assert told.out.endswith("1 place is damaged.\n")


def test_every_changed_byte_of_a_sealed_segment_is_found(tmp_path: Path) -> None:
    write_partition(tmp_path)
    sound = (tmp_path / SEALED).read_bytes()
    unseen = []
    for position in range(len(sound)):
        flip(tmp_path / SEALED, position)
        if run_here("inspect", str(tmp_path / SEALED)).code != 1:
            unseen.append(position)
        (tmp_path / SEALED).write_bytes(sound)
    assert not unseen


def test_bytes_that_the_seal_or_the_checkpoint_tell_of_are_missed(tmp_path: Path) -> None:
    for name in (SEALED, OPEN):
        write_partition(tmp_path / name)
        path = tmp_path / name / name
        path.write_bytes(path.read_bytes()[:100])
        found = damage(run_here("inspect", str(tmp_path / name), "--json"))
        assert any("bytes are missing at the end" in str(find["told"]) for find in found)


def test_a_write_that_a_crash_cut_is_no_damage(tmp_path: Path) -> None:
    data = batches(0, 3)
    write_segment(tmp_path, 0, data[:-10], sealed=False)
    told = run_here("inspect", str(tmp_path), "--json")
    assert damage(told) == []
    (note,) = json.loads(told.out)["findings"]
    assert "the last write is unfinished" in note["told"]
    assert json.loads(told.out)["facts"]["next_offset"] == 2 * RECORDS_IN_BATCH


def test_the_same_end_before_a_checkpoint_is_damage(tmp_path: Path) -> None:
    data = batches(0, 3)
    write_segment(tmp_path, 0, data[:-10] + bytes(10), sealed=False)
    write_checkpoint(tmp_path, 0, data)
    assert damage(run_here("inspect", str(tmp_path), "--json"))


def test_a_missing_segment_is_missed(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, batches(0, 1), sealed=True)
    write_segment(tmp_path, 8, batches(8, 1), sealed=False)
    (found,) = damage(run_here("inspect", str(tmp_path), "--json"))
    assert found["told"] == "4 offsets before this segment are missing"
    (tmp_path / "00000000000000000008.log").unlink()
    write_checkpoint(tmp_path, 8, batches(8, 1))
    (found,) = damage(run_here("inspect", str(tmp_path), "--json"))
    assert "the checkpoint tells of it" in str(found["told"])


def test_offsets_left_unused_by_a_failed_sync_are_not_missed(tmp_path: Path) -> None:
    data = batches(0, 1)
    path = write_segment(tmp_path, 0, data, sealed=True)
    write_segment(tmp_path, 8, batches(8, 1), sealed=False)
    seal_path = path.with_suffix(".seal")
    seal = Seal.from_bytes(seal_path.read_bytes().splitlines()[0])
    write_json(seal_path, seal._replace(resume_offset=8).to_bytes())
    assert damage(run_here("inspect", str(tmp_path), "--json")) == []


def test_a_changed_epoch_which_no_checksum_covers_shows_in_the_seal(tmp_path: Path) -> None:
    data = batch(0) + batch(4)
    write_segment(tmp_path, 0, data, sealed=True)
    (tmp_path / SEALED).write_bytes(batch(0, epoch=0) + batch(4))
    (found,) = damage(run_here("inspect", str(tmp_path), "--json"))
    assert "not what was sealed" in str(found["told"])


def test_damage_the_broker_knows_of_is_damage_still(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, batches(0, 3), sealed=False)
    size = len(batch(4))
    flip(tmp_path / SEALED, size + 30)
    write_json(tmp_path / "00000000000000000000.damage", json.dumps([[size, 2 * size]]).encode())
    (found,) = damage(run_here("inspect", str(tmp_path), "--json"))
    assert str(found["told"]).endswith("known to the broker, and never served")


@pytest.mark.parametrize("name", ["checkpoint", "00000000000000000000.seal"])
def test_damaged_small_files_are_named(tmp_path: Path, name: str) -> None:
    write_partition(tmp_path)
    flip(tmp_path / name, 5)
    for path in (tmp_path, tmp_path / name):
        found = damage(run_here("inspect", str(path), "--json"))
        assert str(tmp_path / name) in [find["path"] for find in found]


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b"null", b"nonsense", b"[[1]]", b'{"segment": "x"}', b"[" * 9999]
)
def test_small_files_with_a_right_checksum_and_wrong_content_are_named(
    tmp_path: Path, content: bytes
) -> None:
    partition = write_data(tmp_path / "data")
    names = ["checkpoint", "00000000000000000000.seal", "00000000000000000000.damage"]
    paths = [partition / name for name in names]
    paths += [partition.parent / "topic.json", tmp_path / "data" / "format.json"]
    for path in paths:
        write_json(path, content)
    found = damage(run_here("inspect", str(tmp_path / "data"), "--json"))
    named = {find["path"] for find in found}
    # An empty list is what a file of damage holds when there is none.
    assert named >= {str(path) for path in paths if content != b"[]" or path.suffix != ".damage"}


def test_facts_that_are_none_are_damage_to_the_metadata_log(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    write_facts(tmp_path / "data" / "metadata", [ClusterFormed("other"), BrokerStarted(1)])
    assert damage(run_here("inspect", str(tmp_path / "data"), "--json")) == []
    write_segment(tmp_path / "data" / "metadata", 0, batch(0), sealed=False)
    (found,) = damage(run_here("inspect", str(tmp_path / "data"), "--json"))
    assert "no fact" in str(found["told"])


def test_a_topic_whose_fact_was_lost_is_named_by_its_note(tmp_path: Path) -> None:
    write_data(tmp_path / "data", name="orders")
    shutil.rmtree(tmp_path / "data" / "metadata")
    assert "\norders " in run_here("inspect", str(tmp_path / "data")).out


def test_a_frame_of_the_journal_that_does_not_match_is_damage_unless_it_is_the_last(
    tmp_path: Path,
) -> None:
    path = write_journal(tmp_path)
    sound = path.read_bytes()
    flip(path, 40)
    (found,) = damage(run_here("inspect", str(path), "--json"))
    assert (found["path"], found["position"]) == (str(path), 0)
    path.write_bytes(sound.rstrip(b"\0")[:-20] + bytes(4096))
    assert damage(run_here("inspect", str(path), "--json")) == []
    assert "the last write is unfinished" in run_here("inspect", str(path)).out


def test_what_cannot_be_read_is_a_finding_and_not_the_end(tmp_path: Path) -> None:
    partition = write_data(tmp_path / "data")
    shutil.rmtree(partition)
    partition.write_text("no directory")
    (partition.parent / "1" / "00000000000000000099.log").mkdir()
    (partition.parent / "1" / "checkpoint").unlink()
    for name in ("checkpoint", "00000000000000000200.log"):
        os.mkfifo(partition.parent / "1" / name)
    found = damage(run_here("inspect", str(tmp_path / "data"), "--verify", "--json"))
    told = {str(find["path"]): str(find["told"]) for find in found}
    assert told[str(partition)].startswith("it cannot be read")
    assert any("00000000000000000099.log" in path for path in told)
    assert told[str(partition.parent / "1" / "checkpoint")].startswith("it cannot be read")


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_to_the_files_it_tells_and_never_falls_over(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    root = tmp_path / "data"
    write_data(root)
    write_journal(root)
    for _ in range(chance.randint(1, 4)):
        path = root / chance.choice(sorted(contents(root)))
        data = path.read_bytes()
        start = chance.randint(0, len(data))
        path.write_bytes(
            chance.choice(
                [
                    data[:start],
                    data[:start] + chance.randbytes(chance.randint(1, 200)) + data[start:],
                    data[:start] + bytes(len(data) - start),
                    data[start:] + data[:start],
                    chance.randbytes(len(data)),
                ]
            )
        )
        if chance.random() < 0.2:
            path.unlink()
    after = contents(root)
    for arguments in ([], ["--verify"], ["--records"], ["--batches", "--json"]):
        ended = run_here("inspect", str(root), *arguments)
        assert ended.code in (0, 1), ended
        assert ended.err == ""
    assert contents(root) == after


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(
        [
            SEALED,
            OPEN,
            "checkpoint",
            "00000000000000000000.seal",
            "copy",
            "a.torn",
            "topic.json",
            JOURNAL,
        ]
    ),
    data=st.binary(max_size=300) | st.binary(max_size=60).map(lambda junk: batch(0) + junk),
    arguments=st.sampled_from([(), ("--records",), ("--batches", "--json"), ("--json",)]),
)
def test_any_bytes_in_any_file_are_shown_or_refused(
    tmp_path: Path, name: str, data: bytes, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "0" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    for looked_at in (path, path.parent):
        ended = run_here("inspect", str(looked_at), *arguments)
        assert ended.code in (0, 1, 2)
        if ended.code == 2:
            assert ended.complaint
        else:
            assert ended.err == ""
    path.unlink()
