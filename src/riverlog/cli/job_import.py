"""`riverlog job import`: the rows of files into a topic."""

import argparse
import os
import re
from collections.abc import Mapping
from contextlib import ExitStack

from riverlog.cli.arguments import Parser
from riverlog.cli.connecting import add_connection, connected
from riverlog.cli.escapes import unescaped
from riverlog.cli.progress import Progress
from riverlog.cli.refusals import WELL, Refused
from riverlog.cli.tables import print_json, print_json_line
from riverlog.jobs.import_marks import RowSet
from riverlog.jobs.importing import Asked, Import, OnBad, close_all, open_all
from riverlog.jobs.row_files import FORMATS, BadRow
from riverlog.jobs.row_records import Shape
from riverlog.records.compression import Codec

DESCRIPTION = """\
Publishes every row of CSV (with a first line of names), JSON lines or Parquet files as a record,
in their order. The value is the row as a JSON object, or one of its columns as it is. Returns when
all rows are durable.

A row that cannot be read ends it; those before it are in the topic then. Another run publishes all
rows again. With --id, every record carries a header that says which row it is, and another run of
the same import, whatever became of the first, publishes only the rows that are not in the topic."""
EXAMPLES = """\
Examples:
  riverlog job import customers.csv customers --key id
  riverlog job import events.jsonl events --key user --timestamp at --headers source,version
  riverlog job import part-*.parquet orders --value payload --id orders-2026-01
  riverlog job import messy.csv orders --skip-bad bad-rows.jsonl"""

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
        on_bad = None if options.skip_bad is None else _noted_in(options.skip_bad, stack)
        present = {} if options.dry_run else _present(options)
        title = f"importing into {options.topic}"
        progress = stack.enter_context(Progress(title, total_bytes, in_bytes=True))
        work = Import(asked, present, on_bad, progress.reach)
        if options.dry_run:
            work.check(opened)
        else:
            client = stack.enter_context(connected(options, options.compression))
            work.publish(opened, client, options.topic)
    counts = work.counts
    if options.json:
        print_json(counts)
    else:
        told = [f"{counts.published} rows {'can be' if options.dry_run else 'were'} published"]
        told += [f"{counts.present} were there before"] if counts.present else []
        told += [f"{counts.bad} bad rows are in {options.skip_bad}"] if counts.bad else []
        print("; ".join(told))
    return WELL


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
