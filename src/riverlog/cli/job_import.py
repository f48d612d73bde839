"""`riverlog job import`: the rows of files into a topic."""

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from riverlog.cli.arguments import Parser
from riverlog.cli.connecting import CLIENT_ID, add_connection, connected
from riverlog.cli.escapes import unescaped
from riverlog.cli.job_spark import add_place, choose_master
from riverlog.cli.progress import Progress
from riverlog.cli.refusals import WELL, Refused
from riverlog.cli.tables import print_json, print_json_line
from riverlog.client.async_client import make_settings
from riverlog.jobs.import_marks import RowSet
from riverlog.jobs.importing import Asked, Counts, Import, OnBad, Opened, close_all, open_all
from riverlog.jobs.row_files import FORMATS, BadRow
from riverlog.jobs.row_records import Shape
from riverlog.records.compression import Codec

DESCRIPTION = """\
Publishes every row of CSV (with a first line of names), JSON lines or Parquet files as a record,
in their order. The value is the row as a JSON object, or one of its columns as it is. Returns when
all rows are durable.

A row that cannot be read ends it; those before it are in the topic then. Another run publishes all
rows again. With --id, every record carries a header that says which row it is, and another run of
the same import, whatever became of the first, publishes only the rows that are not in the topic.

Large files with --id are read and published by Spark's executors, if Spark can run here (see --on):
every partition gets the same rows in the same order. A bad row then ends it before the first one
is published."""
EXAMPLES = """\
Examples:
  riverlog job import customers.csv customers --key id
  riverlog job import events.jsonl events --key user --timestamp at --headers source,version
  riverlog job import part-*.parquet orders --value payload --id orders-2026-01
  riverlog job import messy.csv orders --skip-bad bad-rows.jsonl
  riverlog job import /shared/*.parquet orders --id all --master spark://host:7077"""

WITHOUT_MARKS = "a task that is run again knows its rows by --id, which was not given"
_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")


def describe(parser: Parser) -> None:
    """Adds the files, the topic, and what rows become."""
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument("--format", choices=FORMATS, help="of all files, whatever their names")
    parser.add_argument(
        "--delimiter", default=",", metavar="CHARACTER", help="between fields of CSV [%(default)s]"
    )
    parser.add_argument("--value", metavar="COLUMN", help="the value is this column, as it is")
    parser.add_argument("--key", metavar="COLUMN", help="the key is this column")
    parser.add_argument(
        "--timestamp", metavar="COLUMN", help="milliseconds since 1970, or times like 2026-01-31"
    )
    parser.add_argument("--headers", metavar="COLUMN,…", help="a header for each of these columns")
    parser.add_argument("--id", metavar="NAME", help="mark records, so that it can be repeated")
    parser.add_argument("--skip-bad", metavar="FILE", help="note bad rows here, and go on")
    parser.add_argument("--dry-run", action="store_true", help="read all rows, publish none")
    parser.add_argument(
        "--compression", "-z", choices=[codec.name.lower() for codec in Codec], default="none"
    )
    parser.add_argument("--json", action="store_true", help="say what was done as JSON")
    add_place(parser)
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Publishes everything that is not there yet."""
    if options.id is not None and not _ID.fullmatch(options.id):
        raise Refused(f"--id '{options.id}': up to 100 of letters, digits, dots, _ and -")
    headers = tuple(options.headers.split(",")) if options.headers else ()
    shape = Shape(options.value, options.key, options.timestamp, headers)
    delimiter = unescaped(options.delimiter, "--delimiter").decode(errors="replace")
    is_fitting = delimiter == "\t" or (delimiter.isprintable() and delimiter != '"')
    if len(delimiter) != 1 or not is_fitting:
        raise Refused(f"--delimiter '{options.delimiter}': one character, such as ; or \\t")
    asked = Asked(options.files, options.format, shape, options.id, delimiter)
    with ExitStack() as stack:
        opened = open_all(asked)
        stack.callback(close_all, opened)
        total_bytes = sum(os.path.getsize(file.path) for file in opened)
        is_marked = options.id is not None or options.dry_run
        master = choose_master(
            options, lambda: total_bytes, only_here=None if is_marked else WITHOUT_MARKS
        )
        on_bad = None if options.skip_bad is None else _noted_in(options.skip_bad, stack)
        if master is None:
            counts = _import_here(options, asked, opened, on_bad, total_bytes)
        else:
            counts = _import_on_spark(master, options, asked, on_bad, total_bytes)
    if options.json:
        print_json(counts)
    else:
        told = [f"{counts.published} rows {'can be' if options.dry_run else 'were'} published"]
        told += [f"{counts.present} were there before"] if counts.present else []
        told += [f"{counts.bad} bad rows are in {options.skip_bad}"] if counts.bad else []
        print("; ".join(told))
    return WELL


def _import_here(
    options: argparse.Namespace,
    asked: Asked,
    opened: Sequence[Opened],
    on_bad: OnBad | None,
    total_bytes: int,
) -> Counts:
    present = {} if options.dry_run else _present(options)
    with Progress(f"importing into {options.topic}", total_bytes, in_bytes=True) as progress:
        work = Import(asked, present, on_bad, progress.reach)
        if options.dry_run:
            work.check(opened)
        else:
            with connected(options, options.compression) as client:
                work.publish(opened, client, options.topic)
    return work.counts


def _import_on_spark(
    master: str, options: argparse.Namespace, asked: Asked, on_bad: OnBad | None, total_bytes: int
) -> Counts:
    from riverlog.jobs.on_spark import import_target, importing
    from riverlog.jobs.on_spark.session import spark_context

    settings = make_settings(CLIENT_ID, options.timeout * 1000, options.compression)
    target = import_target.Target(options.bootstrap, settings, options.topic, options.id)
    # Before Spark is started: a broker that does not answer is told of at once.
    partition_count = 0 if options.dry_run else import_target.partition_count_of(target)
    with spark_context(master) as spark:
        present = {} if options.dry_run else import_target.present_rows(spark, target)
        with Progress("reading files", total_bytes, in_bytes=True) as progress:
            read = importing.read_files(
                spark, asked, present, partition_count, on_bad, progress.reach
            )
        if not options.dry_run:
            with Progress(f"importing into {options.topic}", read.counts.published) as progress:
                importing.publish(spark, read, target, progress.reach)
    return read.counts


def _present(options: argparse.Namespace) -> Mapping[str, RowSet]:
    """The rows of this import that the topic has, if they are marked."""
    if options.id is None:
        return {}
    from riverlog.jobs.published_rows import published_rows
    from riverlog.tables.brokers import SETTINGS, Brokers

    settings = SETTINGS._replace(timeout_ms=options.timeout * 1000)
    with Brokers(options.bootstrap, settings) as brokers:
        return published_rows(brokers, options.topic, options.id)


def _noted_in(path: str, stack: ExitStack) -> OnBad:
    out = open(path, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - below.
    stack.callback(out.close)

    def note(file: str, row: BadRow) -> None:
        print_json_line({"file": file, "row": row.number, "reason": row.reason}, out)

    return note
