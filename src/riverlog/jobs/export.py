"""A topic into a Parquet table, incrementally: what was written is never written again."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from riverlog.client.errors import UnknownTopic
from riverlog.client.metadata import TopicView
from riverlog.client.offsets import Place
from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.export_directory import ExportDirectory, create_staged
from riverlog.jobs.export_manifest import DataFile, Manifest
from riverlog.jobs.parquet_files import Create, Piece, write_piece
from riverlog.kernel.wanted import COLUMNS, SCHEMA
from riverlog.stores.disk import Disk
from riverlog.tables.brokers import Brokers
from riverlog.tables.ranges import Range, read_ranges

ROWS_PER_FILE = 1_000_000
# Directories tell it, so that no file has to.
PARTITION = "partition"

# The rows of a range of one partition, with these columns.
Read = Callable[[int, Range, tuple[str, ...]], Iterator[pa.RecordBatch]]


class Asked(NamedTuple):
    """What of a topic is exported.

    `start` is for partitions that are not in the export yet; the others go on where they ended.
    Rows that were deleted before they could be exported end a run, unless it `skips_lost`.
    """

    columns: tuple[str, ...] | None = None
    start: Place = "earliest"
    until: Place = "latest"
    rows_per_file: int = ROWS_PER_FILE
    skips_lost: bool = False


class Plan(NamedTuple):
    """What a run will do: every piece can be written by itself, in any process, in any order."""

    manifest: Manifest
    pieces: tuple[Piece, ...]

    @property
    def offset_count(self) -> int:
        """How many offsets there are to read."""
        return sum(piece.end - piece.start for piece in self.pieces)


class Exported(NamedTuple):
    """What a run has added, and the whole of the table."""

    topic: str
    row_count: int
    file_count: int
    size_bytes: int
    table_row_count: int
    table_file_count: int
    next_offsets: Mapping[int, int]


def make_plan(brokers: Brokers, topic: str, found: Manifest | None, asked: Asked) -> Plan:
    """Fixes what is read: nothing that comes later is. Raises `JobRefused`, `JobFailed`."""
    view = brokers.topic(topic)
    manifest = _begun(view, asked) if found is None else _gone_on(view, found, asked)
    first = brokers.find(topic, "earliest", None)
    starts = brokers.find(topic, asked.start, None) | dict(manifest.next_offsets)
    ends = brokers.find(topic, "latest", None)
    until = ends if asked.until == "latest" else brokers.find(topic, asked.until, None)
    pieces = []
    for partition in sorted(ends):
        place = f"{topic}/{partition}"
        start = starts[partition]
        if start > ends[partition]:
            raise _beyond(place, start, ends[partition], partition in manifest.next_offsets)
        if start < first[partition]:
            _check_lost(place, start, first[partition], asked)
            start = first[partition]
        end = min(ends[partition], until[partition])
        if start < end:
            pieces.append(Piece(partition, start, end, asked.rows_per_file))
        # Noted before anything is written: a run after a crash begins at the same place.
        manifest = manifest.reached(partition, start)
    return Plan(manifest, tuple(pieces))


def size_estimate(brokers: Brokers, plan: Plan) -> int:
    """About how many bytes there are to read, by the first of the longest piece."""
    if not plan.pieces:
        return 0
    longest = max(plan.pieces, key=lambda piece: piece.end - piece.start)
    with brokers.reading(plan.manifest.topic, {longest.partition: longest.start}) as reading:
        found = [header for each in reading.next() for _, header in each.batches]
    offset_count = sum(header.next_offset - header.base_offset for header in found)
    size_bytes = sum(header.size_bytes for header in found)
    return size_bytes * plan.offset_count // max(offset_count, 1)


def write(piece: Piece, columns: tuple[str, ...], read: Read, create: Create) -> Iterator[DataFile]:
    """Writes the files of a piece, of a table with these columns; nothing of it counts yet."""
    in_files = tuple(name for name in columns if name != PARTITION)
    # Files are cut by offsets, whether or not the table has them.
    wanted = in_files if "offset" in in_files else (*in_files, "offset")
    batches = read(piece.partition, Range(piece.start, piece.end), wanted)
    return write_piece(piece, in_files, batches, create)


def commit(
    plan: Plan,
    directory: ExportDirectory,
    files: Iterable[DataFile],
    on_offsets: Callable[[int], None],
) -> Exported:
    """Makes files part of the table as they come: a run that ends early loses one at most.

    Those of a partition are in its order, wherever they were written. The rows of a file and the
    offset to go on at become part of the table together.
    """
    manifest = plan.manifest
    if manifest != directory.manifest:
        directory.commit(manifest)
    added: list[DataFile] = []
    for file in files:
        new = (file,) if file.row_count else ()
        manifest = manifest.reached(file.partition, file.end, new)
        directory.commit(manifest, new)
        added += new
        on_offsets(file.end - file.start)
    return Exported(
        manifest.topic,
        sum(file.row_count for file in added),
        len(added),
        sum(file.size_bytes for file in added),
        manifest.row_count,
        len(manifest.files),
        manifest.next_offsets,
    )


def run(
    plan: Plan,
    disk: Disk,
    directory: ExportDirectory,
    read: Read,
    on_offsets: Callable[[int], None],
) -> Exported:
    """Does all that was planned in this process, one piece after the other."""
    create = partial(create_staged, disk, directory.path)
    columns = plan.manifest.columns
    files = (file for piece in plan.pieces for file in write(piece, columns, read, create))
    return commit(plan, directory, files, on_offsets)


def reader_of(brokers: Brokers, topic: str) -> Read:
    """Reads from the brokers; some megabytes are held at a time."""

    def read(partition: int, found: Range, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for rows in read_ranges(brokers, topic, {partition: found}, columns):
            yield rows.batch

    return read


def _begun(view: TopicView, asked: Asked) -> Manifest:
    columns = COLUMNS if asked.columns is None else asked.columns
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise JobRefused(f"no column '{unknown[0]}': there are {', '.join(COLUMNS)}")
    if not set(columns) - {PARTITION} or len(set(columns)) != len(columns):
        raise JobRefused("name each column once, and at least one besides partition")
    in_order = tuple(name for name in SCHEMA.names if name in columns)
    return Manifest(view.name, str(view.topic_id), in_order, {}, ())


def _gone_on(view: TopicView, found: Manifest, asked: Asked) -> Manifest:
    if found.topic != view.name:
        raise JobRefused(f"the directory has an export of {found.topic}; name another")
    if found.topic_id != str(view.topic_id):
        raise JobFailed(
            f"{view.name} was deleted and made anew since the last export; export it into another"
            " directory"
        )
    if asked.columns is not None and set(asked.columns) != set(found.columns):
        raise JobRefused(
            f"the export has the columns {','.join(found.columns)}; leave --columns out"
        )
    if missing := set(found.next_offsets) - {each.partition for each in view.partitions}:
        raise UnknownTopic(f"{view.name} has no partition {min(missing)} any more")
    return found


def _beyond(place: str, start: int, end: int, is_begun: bool) -> Exception:
    if not is_begun:
        return JobRefused(f"{place} ends at offset {end}: it cannot begin at {start}")
    return JobFailed(
        f"{place} ends at offset {end} and was exported up to {start}: the topic has lost records;"
        " export it into another directory"
    )


def _check_lost(place: str, start: int, first: int, asked: Asked) -> None:
    if not asked.skips_lost:
        raise JobFailed(
            f"{place}: offsets {start} to {first - 1} were deleted before they were exported;"
            " --skip-lost goes on without them"
        )
