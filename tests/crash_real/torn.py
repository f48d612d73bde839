"""What a write leaves behind when death comes in its middle."""

from pathlib import Path
from random import Random

from riverlog.records.batch import assign_offsets, read_header
from riverlog.records.builder import build_batch
from riverlog.records.errors import BatchError
from riverlog.records.record import Record

TIMESTAMP_MS = 1_700_000_000_000
PAYLOAD_BYTES = 2000


def tear_tails(topics: Path, chance: Random) -> int:
    """Has the log of every partition end in the first part of one more batch; gives how many do.

    A process that is killed in a large write leaves its log like this; to meet it by chance would
    take days. The batch would have been the next one. The broker must not be running.
    """
    last = {segment.parent: segment for segment in sorted(topics.glob("*/*/*.log"))}
    growing = [one for one in last.values() if not one.with_suffix(".seal").exists()]
    for segment in growing:
        _tear(segment, chance)
    return len(growing)


def _tear(segment: Path, chance: Random) -> None:
    end, next_offset, epoch = _end_of(segment)
    records = [Record(0, TIMESTAMP_MS, b"torn", chance.randbytes(PAYLOAD_BYTES))]
    batch = bytearray(build_batch(records))
    assign_offsets(batch, 0, next_offset, epoch)
    with segment.open("r+b") as file:
        file.seek(end)
        file.write(batch[: chance.randrange(1, len(batch))])


def _end_of(segment: Path) -> tuple[int, int, int]:
    """Where the batches of a file end, the offset after them, and the epoch of the last."""
    data = segment.read_bytes()
    end, next_offset, epoch = 0, int(segment.stem), 1
    while end < len(data):
        try:
            header = read_header(data, end)
        except BatchError:
            break  # Zeros that were filled ahead.
        end += header.size_bytes
        next_offset, epoch = header.next_offset, header.leader_epoch
    return end, next_offset, epoch
