"""Data directories as a broker leaves them, made from the formats alone."""

import json
from collections.abc import Sequence
from pathlib import Path

from riverlog.cluster.facts import BrokerStarted, ClusterFormed, Fact, encode
from riverlog.cluster.topics import TopicCreated
from riverlog.log.checkpoint import Checkpoint, Seal
from riverlog.log.journal import JournalFile
from riverlog.log.journal_frames import Entry
from riverlog.log.journal_frames import encode as encode_frame
from riverlog.log.segment import file_name, hash_of
from riverlog.records.batch import read_header, split
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.record import Record
from riverlog.stores.disk import OsDisk
from riverlog.stores.small_file import write_small_file

TOPIC_ID = bytes(range(16))
TIME_MS = 1_700_000_000_000
RECORDS_IN_BATCH = 4


def batch(base_offset: int, epoch: int = 1, codec: Codec = Codec.NONE) -> bytes:
    """A batch of a few records whose values tell their offsets."""
    records = [
        Record(offset, TIME_MS + offset, b"key", b"value %d" % offset, (("h", b"\xff"),))
        for offset in range(base_offset, base_offset + RECORDS_IN_BATCH)
    ]
    return build_batch(records, base_offset=base_offset, leader_epoch=epoch, codec=codec)


def batches(base_offset: int, count: int, codec: Codec = Codec.NONE) -> bytes:
    offsets = range(base_offset, base_offset + count * RECORDS_IN_BATCH, RECORDS_IN_BATCH)
    return b"".join(batch(offset, codec=codec) for offset in offsets)


def write_json(path: Path, content: bytes) -> None:
    """A small file as the log writes them, its checksum line included."""
    write_small_file(OsDisk(), str(path), content)


def write_segment(directory: Path, base_offset: int, data: bytes, *, sealed: bool) -> Path:
    """A segment file, and its seal if it is closed."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / file_name(base_offset)
    path.write_bytes(data)
    if sealed:
        headers = [header for _, header in split(data)]
        seal = Seal(
            size_bytes=len(data),
            next_offset=headers[-1].next_offset,
            resume_offset=headers[-1].next_offset,
            hash_so_far=hash_of(data),
            max_timestamp_ms=max(header.max_timestamp_ms for header in headers),
            record_count=sum(header.record_count for header in headers),
        )
        write_json(path.with_suffix(".seal"), seal.to_bytes())
    return path


def write_checkpoint(directory: Path, base_offset: int, data: bytes) -> None:
    """A checkpoint behind these bytes of a segment."""
    headers = [header for _, header in split(data)]
    checkpoint = Checkpoint(
        base_offset,
        len(data),
        headers[-1].next_offset,
        0,
        hash_of(data),
        max(header.max_timestamp_ms for header in headers),
        sum(header.record_count for header in headers),
        ((1, 0),),
        (),
    )
    write_json(directory / "checkpoint", checkpoint.to_bytes())


def write_partition(directory: Path) -> None:
    """A sealed segment of offsets 0..11, and an open one of 12..19 with zeros behind it."""
    write_segment(directory, 0, batches(0, 3, Codec.ZSTD), sealed=True)
    data = batches(12, 2)
    write_segment(directory, 12, data + bytes(4096), sealed=False)
    write_checkpoint(directory, 12, data[: read_header(data).size_bytes])


def write_data(root: Path, name: str = "orders") -> Path:
    """A data directory with one topic of two partitions; gives the first one's directory."""
    root.mkdir(parents=True)
    write_json(root / "format.json", b'{"format": 1, "made_by": "a test"}')
    topic = TopicCreated(TOPIC_ID, name, 2, {})
    write_facts(root / "metadata", [ClusterFormed("the-cluster"), BrokerStarted(1), topic])
    directory = root / "topics" / TOPIC_ID.hex()
    write_partition(directory / "0")
    write_partition(directory / "1")
    note = {"name": name, "partitions": 2, "configs": {}}
    write_json(directory / "topic.json", json.dumps(note).encode())
    return directory / "0"


def write_facts(directory: Path, facts: Sequence[Fact]) -> None:
    """A metadata log."""
    records = [Record(number, TIME_MS, None, encode(fact)) for number, fact in enumerate(facts)]
    write_segment(directory, 0, build_batch(records), sealed=False)


def write_journal(root: Path) -> Path:
    """A journal of two frames over the open segment of the first partition, and zeros behind."""
    salt = bytes(range(8))
    entry = Entry(TOPIC_ID + bytes(4), 12, 0, [batch(12)])
    frames = encode_frame(salt, 0, [entry]) + encode_frame(salt, 1, [entry, entry])
    path = root / "journal" / JournalFile(1, salt).name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(frames + bytes(4096))
    return path


def contents(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and the time it was last changed."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
