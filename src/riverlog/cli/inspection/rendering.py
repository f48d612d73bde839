"""Facts about files as people read them: a tree, tables, and a plain word about damage."""

import os
from collections.abc import Iterator, Sequence

from riverlog.cli.inspection.batches import time_text
from riverlog.cli.inspection.data_directories import DataFacts, TopicFacts
from riverlog.cli.inspection.files import FileFacts
from riverlog.cli.inspection.journals import JournalFacts, JournalFileFacts
from riverlog.cli.inspection.partitions import AsideFacts, PartitionFacts
from riverlog.cli.inspection.segments import SegmentFacts
from riverlog.cli.inspection.small_files import Finding
from riverlog.cli.printable import printable
from riverlog.cli.tables import Cell, print_json, print_table, size_text

Facts = (
    DataFacts
    | TopicFacts
    | PartitionFacts
    | JournalFacts
    | SegmentFacts
    | JournalFileFacts
    | FileFacts
)

# Sixteen bytes to a line, each two digits and a blank.
_HEX_LETTERS = 48
_TREE_HEADINGS = ["", "offsets", "records", "size", "state"]


def print_facts(facts: Facts) -> None:
    """Prints whatever was looked at."""
    match facts:
        case DataFacts():
            _print_data(facts)
        case TopicFacts():
            print_table(_TREE_HEADINGS, _topic_rows(facts), right=("size",))
        case PartitionFacts():
            _print_partition(facts)
        case JournalFacts():
            _print_journal(facts.files)
            _print_aside(facts.aside)
        case SegmentFacts():
            _print_segments([facts])
        case JournalFileFacts():
            _print_journal([facts])
        case FileFacts():
            _print_file(facts)


def print_findings(findings: Sequence[Finding], verdict: str) -> None:
    """What was found, damage first, and a last line that sums it up: `verdict` if all is well."""
    damage = [finding for finding in findings if finding.is_damage]
    print()
    for finding in damage + [finding for finding in findings if not finding.is_damage]:
        place = f", {finding.size_bytes} bytes at {finding.position}" if finding.size_bytes else ""
        kind = "DAMAGE" if finding.is_damage else "note"
        print(f"{kind}  {printable(finding.path)}{place}: {printable(finding.told)}")
    if damage:
        places = "1 place is" if len(damage) == 1 else f"{len(damage)} places are"
        print(f"{places} damaged.")
    else:
        print(verdict)


def verdict_on(facts: Facts, *, is_all_checked: bool) -> str:
    """What can be said if nothing was found."""
    if isinstance(facts, FileFacts):
        return "Its checksum is right." if facts.first_bytes is None else "It is never served."
    if is_all_checked:
        return "Everything was read and is sound."
    return "Seals and checkpoints were read; --verify reads every batch."


def _print_data(facts: DataFacts) -> None:
    """A data directory as a tree."""
    known = [f"format {facts.format or 'unknown'}"]
    known += [f"cluster {facts.cluster_id}"] if facts.cluster_id else []
    known += [f"epoch {facts.broker_epoch}"] if facts.broker_epoch is not None else []
    print(f"{printable(facts.path)}: {', '.join(known)}")
    rows: list[list[Cell]] = []
    if facts.metadata is not None:
        rows += _partition_rows("metadata", facts.metadata, "")
    if facts.journal is not None and facts.journal.files:
        kept = f"{size_text(facts.journal.entry_bytes)} kept for the segments"
        rows.append(["journal", None, None, size_text(facts.journal.file_bytes), kept])
    for topic in sorted(facts.topics, key=lambda topic: topic.name or ""):
        rows += _topic_rows(topic)
    print_table(_TREE_HEADINGS, rows, right=("size",))


def _print_partition(facts: PartitionFacts) -> None:
    """A partition's directory: its segments, its checkpoint, what was kept aside."""
    _print_segments(facts.segments)
    print()
    if facts.checkpoint is None:
        print("checkpoint  none")
    else:
        place = f"offset {facts.checkpoint.next_offset}, log start {facts.log_start_offset}"
        rest = (
            "covers all"
            if not facts.recovery_bytes
            else (f"{size_text(facts.recovery_bytes)} behind it")
        )
        epochs = ", ".join(f"{epoch} from {start}" for epoch, start in facts.checkpoint.epochs)
        print(f"checkpoint  {place}, {rest}; {facts.checkpoint.producer_count} producers")
        print(f"epochs      {epochs or 'none'}")
    _print_aside(facts.aside)


def _print_segments(segments: Sequence[SegmentFacts]) -> None:
    """Segment files as a table."""
    print_table(
        ["segment", "state", "offsets", "batches", "records", "size", "newest record"],
        [
            [
                os.path.basename(segment.path),
                segment.state,
                _offsets(segment.base_offset, segment.next_offset),
                segment.batch_count,
                segment.record_count,
                size_text(segment.file_bytes),
                None if segment.max_timestamp_ms is None else time_text(segment.max_timestamp_ms),
            ]
            for segment in segments
        ],
        right=("size",),
    )


def _print_journal(files: Sequence[JournalFileFacts]) -> None:
    print_table(
        ["journal file", "frames", "entries", "kept", "size"],
        [
            [
                os.path.basename(file.path),
                file.frame_count,
                file.entry_count,
                size_text(file.entry_bytes),
                size_text(file.file_bytes),
            ]
            for file in files
        ],
        right=("kept", "size"),
    )


def _print_aside(files: Sequence[AsideFacts]) -> None:
    for aside in files:
        name = printable(os.path.basename(aside.path))
        print(f"aside       {name}, {size_text(aside.size_bytes)}: {aside.told}")


def _print_file(facts: FileFacts) -> None:
    print(f"{printable(facts.path)}, {size_text(facts.size_bytes)}: {facts.told}")
    if facts.content is not None:
        print_json(facts.content)
    if facts.first_bytes:
        for start in range(0, len(facts.first_bytes), _HEX_LETTERS):
            print(facts.first_bytes[start : start + _HEX_LETTERS])


def _topic_rows(topic: TopicFacts) -> Iterator[list[Cell]]:
    # A partition that was never written to has no directory.
    count = max(topic.partition_count or 0, len(topic.partitions))
    state = f"{count} partition{'' if count == 1 else 's'}, id {topic.topic_id}"
    name = topic.name or "(name unknown)"
    yield [name, None, topic.record_count, size_text(topic.file_bytes), state]
    for partition in topic.partitions:
        is_last = partition is topic.partitions[-1]
        yield from _partition_rows(os.path.basename(partition.path), partition, _branch(is_last))


def _partition_rows(name: str, facts: PartitionFacts, branch: str) -> Iterator[list[Cell]]:
    aside = f"{len(facts.aside)} files aside" if facts.aside else ""
    offsets = _offsets(facts.log_start_offset, facts.next_offset)
    yield [branch + name, offsets, facts.record_count, size_text(facts.file_bytes), aside]
    below = {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
    for segment in facts.segments:
        yield [
            below + _branch(segment is facts.segments[-1]) + os.path.basename(segment.path),
            _offsets(segment.base_offset, segment.next_offset),
            segment.record_count,
            size_text(segment.file_bytes),
            segment.state,
        ]


def _branch(is_last: bool) -> str:
    return "└─ " if is_last else "├─ "


def _offsets(start: int, end: int) -> str:
    return f"{start}..{end - 1}" if end > start else "none"
