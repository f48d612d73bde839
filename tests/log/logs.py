"""Logs for tests: opened on any disk, written and read in one call."""

from collections.abc import Sequence
from typing import NamedTuple

from riverlog.log.commit import GroupCommit
from riverlog.log.damage import Damage, Report
from riverlog.log.partition import Appended, Partition
from riverlog.log.settings import LogSettings
from riverlog.log.shared import Shared, Trouble, no_trouble
from riverlog.records.batch import read_header, split
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.record import Record, iterate
from riverlog.stores.disk import Disk
from riverlog.stores.handles import Handles
from riverlog.stores.syncer import InlineSyncer, Syncer

DIRECTORY = "log"
NOW_MS = 1_767_225_600_000


class Read(NamedTuple):
    """A record as it came out."""

    offset: int
    value: bytes | None


def open_log(
    disk: Disk,
    *,
    epoch: int = 1,
    epoch_max: int | None = None,
    settings: LogSettings | None = None,
    report: Report | None = None,
    syncer: Syncer | None = None,
    open_max: int = 8,
    trouble: Trouble = no_trouble,
) -> Partition:
    """A log in its own directory, led at `epoch`, with earlier epochs behind it."""
    syncer = syncer or InlineSyncer()
    handles, commit = Handles(disk, open_max), GroupCommit(syncer)
    shared = Shared(disk, handles, commit, syncer, report or _no_damage, trouble)
    return Partition(
        shared,
        [DIRECTORY],
        settings or LogSettings(),
        leader_epoch=epoch,
        epoch_max=epoch - 1 if epoch_max is None else epoch_max,
    )


def batch_of(
    *values: bytes,
    times_ms: Sequence[int] = (),
    producer: tuple[int, int] | None = None,
    sequence: int = 0,
    codec: Codec = Codec.NONE,
) -> bytes:
    """A batch as a producer sends it; `producer` is its id and epoch."""
    records = [
        Record(number, times_ms[number] if times_ms else NOW_MS, None, value)
        for number, value in enumerate(values)
    ]
    if producer is None:
        return build_batch(records, codec=codec)
    return build_batch(
        records,
        codec=codec,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=sequence,
    )


def write(log: Partition, batch: bytes, now_ms: int = NOW_MS) -> Appended:
    """Appends without waiting for the disk."""
    return log.append(batch, read_header(batch), now_ms)


async def send(log: Partition, batch: bytes, now_ms: int = NOW_MS) -> Appended:
    """Appends a batch; it is durable when this returns."""
    appended = write(log, batch, now_ms)
    durable = log.durable(appended.end_offset)
    if durable is not None:
        await durable
    return appended


async def append(log: Partition, *values: bytes) -> Appended:
    """Appends these values as one batch; it is durable when this returns."""
    return await send(log, batch_of(*values))


def records_in(data: memoryview | bytes) -> list[Read]:
    """The records of batches that follow one another."""
    records = []
    position = 0
    while position < len(data):
        for record in iterate(data, position, decompressed_bytes_max=1 << 24):
            records.append(Read(record.offset, record.value))
        position += read_header(data, position).size_bytes
    return records


def read_all(log: Partition, bytes_max: int = 1 << 20) -> list[Read]:
    """Everything in the log, fetch by fetch, to its very end."""
    records: list[Read] = []
    offset = log.log_start_offset
    while data := log.read(offset, bytes_max):
        records += [read for read in records_in(data) if read.offset >= offset]
        *_, (_, last) = split(data)
        assert last.next_offset > offset, "a reader gets nowhere"
        offset = last.next_offset
    assert offset == log.high_watermark or log.next_offset > log.high_watermark
    return records


def _no_damage(damage: Damage) -> None:
    raise AssertionError(f"damage where there should be none: {damage}")
