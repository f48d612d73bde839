"""`riverlog job audit`: every byte of segments checked, and what is wrong told exactly."""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import NamedTuple

from riverlog.cli.arguments import Parser, whole_number
from riverlog.cli.inspection.data_directories import (
    inspect_data,
    inspect_topic,
    is_data_directory,
    is_topic_directory,
)
from riverlog.cli.inspection.files import inspect_file
from riverlog.cli.inspection.partitions import PartitionFacts, inspect_partition
from riverlog.cli.inspection.segments import Inspector, SegmentFacts
from riverlog.cli.inspection.small_files import Finding, going_on, read_seal
from riverlog.cli.job_spark import add_place, choose_master
from riverlog.cli.progress import Progress
from riverlog.cli.refusals import FAILED, WELL, Refused
from riverlog.cli.tables import print_json, print_table, size_text
from riverlog.jobs import audit
from riverlog.jobs.audit import Checked, Stretch
from riverlog.log.checkpoint import CHECKPOINT_NAME, SEAL_SUFFIX
from riverlog.log.segment import LOG_SUFFIX, segment_names
from riverlog.runtime.clock import SystemClock
from riverlog.stores.read_only_disk import ReadOnlyDisk

DESCRIPTION = """\
Reads every segment straight from the files and checks the checksum of each batch, that offsets go
on without a gap, and what the seals say. It only reads, so it may run beside a broker.

The exit code is 1 if there is damage; what may be mended by a broker's next start is a note.

With --master, Spark's executors read the files; one machine is as fast without."""
EXAMPLES = """\
Examples:
  riverlog job audit ./data
  riverlog job audit ./data/topics/…/0 --jobs 4
  riverlog job audit 00000000000000000000.log --json
  riverlog job audit /shared/data --master spark://host:7077"""

CheckAll = Callable[[Sequence[Stretch], Callable[[int], None]], Iterator[Checked]]


def describe(parser: Parser) -> None:
    """Adds what to read, and with how many threads."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="data, topics', partitions', .log")
    parser.add_argument(
        "--jobs", "-j", type=whole_number(1, 256), metavar="N", help="threads [one a processor]"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Reads what small files say, checks all segments, and looks closely at those not sound."""
    findings: dict[Finding, None] = {}
    read = _Counter()
    clock = SystemClock()
    start_ms = clock.monotonic_ms()
    inspector = Inspector(
        ReadOnlyDisk(),
        checks_all=False,
        find=lambda finding: findings.update({finding: None}),
        on_segment=_pass,
        on_batch=_pass,
        on_bytes=read.add,
    )
    segments = {
        segment.path: segment for path in options.paths for segment in _segments(inspector, path)
    }
    unchecked = [segment for segment in segments.values() if not segment.is_checked]
    total_bytes = sum(segment.batch_bytes for segment in unchecked)
    with ExitStack() as stack:
        asked_ms = clock.monotonic_ms()
        check_all = _checking(options, total_bytes, stack)
        # Until Spark runs, nothing is read.
        start_ms += clock.monotonic_ms() - asked_ms
        read.progress = stack.enter_context(Progress("auditing", total_bytes, in_bytes=True))
        stretches = [_stretch(inspector, segment) for segment in unchecked]
        for checked in check_all(stretches, read.add):
            if checked.is_sound is False:
                with going_on(checked.stretch.path, inspector.find):
                    inspect_file(inspector._replace(checks_all=True), checked.stretch.path)
    elapsed_ms = max(clock.monotonic_ms() - start_ms, 1)
    audited = Audited(len(segments), read.total, elapsed_ms, tuple(findings))
    if options.json:
        print_json({**audited._asdict(), "mb_per_s": audited.mb_per_s})
    else:
        _print(audited)
    return FAILED if audited.damage_count else WELL


class Audited(NamedTuple):
    """What was read, and what was found."""

    segment_count: int
    read_bytes: int
    elapsed_ms: int
    findings: tuple[Finding, ...]

    @property
    def damage_count(self) -> int:
        return sum(finding.is_damage for finding in self.findings)

    @property
    def mb_per_s(self) -> float:
        return round(self.read_bytes / 1000 / self.elapsed_ms, 1)


class _Counter:
    """Bytes read by several threads, told to a bar once there is one."""

    def __init__(self) -> None:
        self.total = 0
        self.progress: Progress | None = None
        self._lock = Lock()

    def add(self, size_bytes: int) -> None:
        with self._lock:
            self.total += size_bytes
            if self.progress is not None:
                self.progress.advance(size_bytes)


def _checking(options: argparse.Namespace, total_bytes: int, stack: ExitStack) -> CheckAll:
    """Checks here in threads, or on Spark."""
    is_local = options.master is None or options.master.startswith("local")
    idle = (
        "its threads use every processor as well; name a --master with more" if is_local else None
    )
    master = choose_master(options, lambda: total_bytes, gains_nothing=idle)
    if master is None:
        thread_count = options.jobs or os.cpu_count() or 1
        return lambda stretches, on_bytes: audit.check_all(stretches, thread_count, on_bytes)
    from riverlog.jobs.on_spark import auditing
    from riverlog.jobs.on_spark.session import spark_context

    return partial(auditing.check_all, stack.enter_context(spark_context(master)))


def _segments(inspector: Inspector, path: str) -> Iterator[SegmentFacts]:
    """All segments at a path, with what seals and checkpoints say of them."""
    if not os.path.isdir(path):
        facts = inspect_file(inspector, path)
        if isinstance(facts, SegmentFacts):
            yield facts
        return
    for partition in _partitions(inspector, path):
        yield from partition.segments


def _partitions(inspector: Inspector, path: str) -> Iterator[PartitionFacts]:
    names = os.listdir(path)
    if is_data_directory(names):
        data = inspect_data(inspector, path)
        if data.metadata is not None:
            yield data.metadata
        for topic in data.topics:
            yield from topic.partitions
    elif CHECKPOINT_NAME in names or list(segment_names(names)):
        yield inspect_partition(inspector, path)
    elif is_topic_directory(path, names):
        yield from inspect_topic(inspector, path).partitions
    else:
        raise Refused(f"{path} holds no segments of Riverlog's")


def _stretch(inspector: Inspector, segment: SegmentFacts) -> Stretch:
    beside = segment.path.removesuffix(LOG_SUFFIX) + SEAL_SUFFIX
    seal = read_seal(inspector.disk, beside, inspector.find)
    return Stretch(
        segment.path,
        segment.batch_bytes,
        segment.base_offset,
        segment.next_offset,
        None if seal is None else seal.hash_so_far,
    )


def _print(audited: Audited) -> None:
    if audited.findings:
        rows = sorted(audited.findings, key=lambda found: (not found.is_damage, found))
        print_table(
            ["kind", "file", "position", "bytes", "found"],
            [
                ["DAMAGE" if is_damage else "note", path, position, size_bytes, told]
                for path, position, size_bytes, told, is_damage in rows
            ],
        )
        print()
    count, damage = audited.segment_count, audited.damage_count
    read = f"{count} segment{'' if count == 1 else 's'}, {size_text(audited.read_bytes)} read"
    places = "1 place is" if damage == 1 else f"{damage} places are"
    verdict = f"{places} damaged" if damage else "everything is sound"
    print(f"{read} at {audited.mb_per_s:.0f} MB/s: {verdict}.")


def _pass(*_: object) -> None:
    """For those who show no rows."""
