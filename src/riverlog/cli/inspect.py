"""`riverlog inspect`: what lies on the disk, without a broker and without changing anything."""

import argparse
import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from riverlog.cli.arguments import Parser, whole_number
from riverlog.cli.inspection.batches import Shown
from riverlog.cli.inspection.data_directories import (
    inspect_data,
    inspect_topic,
    is_data_directory,
    is_topic_directory,
)
from riverlog.cli.inspection.files import inspect_file
from riverlog.cli.inspection.journals import inspect_journal, is_journal_directory
from riverlog.cli.inspection.partitions import inspect_partition
from riverlog.cli.inspection.rendering import Facts, print_facts, print_findings, verdict_on
from riverlog.cli.inspection.segments import Inspector
from riverlog.cli.inspection.small_files import Finding
from riverlog.cli.progress import Progress
from riverlog.cli.refusals import FAILED, REFUSED, WELL, Refused
from riverlog.cli.tables import print_json, print_json_line
from riverlog.log.checkpoint import CHECKPOINT_NAME
from riverlog.log.segment import LOG_SUFFIX, segment_names
from riverlog.records.batch import BatchHeader
from riverlog.settings.near_misses import near_miss
from riverlog.stores.data_directory import UnknownFormat
from riverlog.stores.read_only_disk import ReadOnlyDisk

DESCRIPTION = """\
Shows what lies in a data directory, a topic's or a partition's directory in it, or a single file:
topics by name, partitions, segments, batches, records, seals, checkpoints. Checksums are verified
and damage is pointed out; the exit code is 1 if there is any.

It only reads, so it may be used beside a running broker."""
EXAMPLES = """\
Examples:
  riverlog inspect ./data                           the tree of topics, partitions and segments
  riverlog inspect ./data --verify                  and every batch checked
  riverlog inspect ./data --topic orders --records --from 100 --count 10
  riverlog inspect ./data/topics/…/0 --batches      the batches of a partition
  riverlog inspect 00000000000000000000.log --records --json | jq .value"""

EXIT_CODES: Mapping[type[Exception], int] = {UnknownFormat: REFUSED}

DATA = "data directory"
TOPIC = "topic"
PARTITION = "partition"
JOURNAL = "journal"
FILE = "file"


def describe(parser: Parser) -> None:
    """Adds the path, what to show of it, and how."""
    parser.add_argument("path", metavar="PATH", help="a directory or a file of a broker's data")
    parser.add_argument("--verify", action="store_true", help="read and check every batch")
    parser.add_argument("--topic", metavar="NAME", help="only this topic of a data directory")
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument("--batches", action="store_true", help="show every batch")
    rows.add_argument("--records", action="store_true", help="show every record")
    parser.add_argument(
        "--from",
        dest="start_offset",
        type=whole_number(0),
        default=0,
        metavar="OFFSET",
        help="show batches or records from here on",
    )
    parser.add_argument("--count", type=whole_number(0), metavar="N", help="show at most so many")
    parser.add_argument(
        "--json", action="store_true", help="as JSON; batches and records one to a line"
    )


def run(options: argparse.Namespace) -> int:
    """Looks, shows, and gives 1 if there is damage."""
    findings: list[Finding] = []
    shows_rows = options.batches or options.records
    shown = Shown(
        records=options.records,
        as_json=options.json,
        start_offset=options.start_offset,
        count=options.count,
        find=findings.append,
    )
    kind = _kind_of(options.path)
    checks_all = options.verify or shows_rows or kind in (PARTITION, JOURNAL, FILE)
    total_bytes = _log_bytes(options.path) if checks_all else 0
    with Progress("reading", total_bytes, in_bytes=True) as progress:
        inspector = Inspector(
            ReadOnlyDisk(),
            checks_all,
            findings.append,
            shown.begin,
            shown.show if shows_rows else _show_nothing,
            # Rows tell by themselves how far it has come.
            _count_nothing if shows_rows else progress.advance,
        )
        facts = _look(inspector, options.path, kind, options.topic)
    if options.json and shows_rows:
        for finding in findings:
            print_json_line({"finding": finding})
    elif options.json:
        print_json({"kind": kind, "facts": facts, "findings": findings})
    else:
        print_facts(facts)
        print_findings(findings, verdict_on(facts, is_all_checked=checks_all))
    return FAILED if any(finding.is_damage for finding in findings) else WELL


def _kind_of(path: str) -> str:
    """What stands there; raises `Refused` if it is nothing of ours, or `OSError`."""
    mode = os.stat(path).st_mode
    if stat.S_ISREG(mode):
        return FILE
    if not stat.S_ISDIR(mode):
        raise Refused(f"{path} is neither a file nor a directory")
    names = os.listdir(path)
    if is_data_directory(names):
        return DATA
    if CHECKPOINT_NAME in names or list(segment_names(names)):
        return PARTITION
    if is_topic_directory(path, names):
        return TOPIC
    if is_journal_directory(path, names):
        return JOURNAL
    raise Refused(f"{path} holds no data of Riverlog's")


def _look(inspector: Inspector, path: str, kind: str, topic: str | None) -> Facts:
    if topic is not None and kind != DATA:
        raise Refused("--topic picks from a data directory; this is none")
    if kind == FILE:
        return inspect_file(inspector, path)
    if kind == PARTITION:
        return inspect_partition(inspector, path)
    if kind == JOURNAL:
        return inspect_journal(inspector, path)
    if kind == TOPIC:
        return inspect_topic(inspector, path)
    facts = inspect_data(inspector, path, topic)
    if topic is not None and not facts.topics:
        raise Refused(f"there is no topic '{topic}' in {path}{near_miss(topic, facts.topic_names)}")
    return facts


def _log_bytes(path: str) -> int:
    """How many bytes there are to read, for the bar."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    total = 0
    for directory, _, names in os.walk(path):
        for name in names:
            if name.endswith(LOG_SUFFIX):
                with suppress(FileNotFoundError):
                    total += os.path.getsize(f"{directory}/{name}")
    return total


def _show_nothing(header: BatchHeader, position: int, data: memoryview) -> None:
    """For those who asked for no rows."""


def _count_nothing(size_bytes: int) -> None:
    """For those whose rows tell how far it has come."""
