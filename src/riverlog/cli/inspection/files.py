"""A single file of a broker's data, told by its name: a segment, or one of those beside it."""

import os
from typing import Any, NamedTuple

from riverlog.broker.topic_files import TOPIC_FILE
from riverlog.cli.inspection.journals import (
    JournalFileFacts,
    inspect_journal_file,
    is_journal_file,
)
from riverlog.cli.inspection.partitions import ASIDE
from riverlog.cli.inspection.segments import Inspector, SegmentFacts
from riverlog.cli.inspection.small_files import read_checkpoint, read_content
from riverlog.cli.refusals import Refused
from riverlog.log.checkpoint import CHECKPOINT_NAME, SEAL_SUFFIX
from riverlog.log.damage import DAMAGE_SUFFIX
from riverlog.log.segment import LOG_SUFFIX, Segment, segment_names
from riverlog.log.start_offset import START_NAME
from riverlog.records.batch import HEADER_SIZE, read_header
from riverlog.records.errors import BatchError
from riverlog.stores.data_directory import FORMAT_FILE
from riverlog.stores.disk import opened

_SMALL = {
    CHECKPOINT_NAME: "a checkpoint: the partition's state up to a durable place",
    START_NAME: "where the log of the partition begins",
    SEAL_SUFFIX: "a seal: what is known of a closed segment",
    DAMAGE_SUFFIX: "the stretches of a segment that were found damaged and are not served",
    TOPIC_FILE: "a copy of what the metadata log says of the topic",
    FORMAT_FILE: "the format of the data directory",
}
_HEAD_BYTES = 256


class FileFacts(NamedTuple):
    """A file that is no segment: what it says, or its first bytes where it says nothing."""

    path: str
    told: str
    size_bytes: int
    content: Any  # whatever JSON there is
    first_bytes: str | None


def inspect_file(inspector: Inspector, path: str) -> SegmentFacts | JournalFileFacts | FileFacts:
    """Looks at a file; raises `OSError`, or `Refused` when it is nothing of ours."""
    name = os.path.basename(path)
    if is_journal_file(name):
        return inspect_journal_file(inspector, path)
    for end, told in _SMALL.items():
        if name.endswith(end):
            content = read_content(inspector.disk, path, inspector.find)
            return FileFacts(path, told, os.path.getsize(path), content, None)
    for end, told in ASIDE.items():
        if name.endswith(end):
            head = _head(inspector, path, _HEAD_BYTES)
            return FileFacts(path, told, os.path.getsize(path), None, head.hex(" "))
    return _inspect_segment(inspector, path)


def _inspect_segment(inspector: Inspector, path: str) -> SegmentFacts:
    directory, name = os.path.split(path)
    directory = directory or "."
    bases = sorted(segment_names(inspector.disk.list(directory)))
    base_offset = next(segment_names([name]), None)
    if base_offset is not None:
        checkpoint_path = f"{directory}/{CHECKPOINT_NAME}"
        checkpoint = read_checkpoint(inspector.disk, checkpoint_path, inspector.find)
        segment = Segment(directory, base_offset)
        is_last = base_offset == bases[-1]
        return inspector.segment(segment, is_last=is_last, checkpoint=checkpoint)
    try:
        # A copy under another name is a segment still, if it begins like one.
        base_offset = read_header(_head(inspector, path, HEADER_SIZE)).base_offset
    except BatchError:
        raise Refused(f"{path} is no file of Riverlog's; a segment ends in {LOG_SUFFIX}") from None
    segment = Segment(directory, base_offset)
    segment.path = path
    return inspector.segment(segment, is_last=True, checkpoint=None)


def _head(inspector: Inspector, path: str, size: int) -> bytes:
    with opened(inspector.disk.open(path)) as file:
        return file.read(0, size)
