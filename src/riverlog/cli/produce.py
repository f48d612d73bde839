"""`riverlog produce`: lines, JSON or a whole file into a topic."""

import argparse
import os
import select
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from typing import BinaryIO

from riverlog.cli.arguments import Parser, whole_number
from riverlog.cli.connecting import EXIT_CODES, add_connection, connected
from riverlog.cli.escapes import unescaped
from riverlog.cli.progress import Progress
from riverlog.cli.record_lines import LineFormat, header_of
from riverlog.cli.refusals import WELL, Refused
from riverlog.cli.tables import print_json_line
from riverlog.client.outgoing import NewRecord, Published
from riverlog.client.sync_client import Client
from riverlog.client.sync_publishing import SyncPublishing
from riverlog.records.compression import Codec

__all__ = ["DESCRIPTION", "EXAMPLES", "EXIT_CODES", "describe", "run"]

DESCRIPTION = """\
Publishes every line of standard input, or of a file, as a record. Returns when all of them are
durable. A line that cannot be read ends it; those before it are in the topic then."""
EXAMPLES = """\
Examples:
  echo hello | riverlog produce greetings
  riverlog produce orders orders.csv --key-separator ,         key,value on each line
  riverlog produce orders events.jsonl --json-lines            {"key": …, "value": …, "headers": …}
  riverlog produce images cat.png --whole --header type=image/png
  riverlog consume a --format json | riverlog produce b --json-lines"""

READ_BYTES = 256 * 1024
# Batches that may be on their way while more is read.
AHEAD_MAX = 16


def describe(parser: Parser) -> None:
    """Adds what to publish, and how."""
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument("file", nargs="?", metavar="FILE", help="instead of standard input")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument(
        "--key-separator", "-K", metavar="TEXT", help="what stands between key and value"
    )
    shape.add_argument("--json-lines", action="store_true", help="each line is a record in JSON")
    shape.add_argument("--whole", action="store_true", help="all of the input is one record")
    parser.add_argument("--key", "-k", metavar="TEXT", help="the key of every record")
    parser.add_argument(
        "--header", "-H", action="append", default=[], metavar="NAME=VALUE", help="of every record"
    )
    parser.add_argument(
        "--delimiter", "-D", default="\\n", metavar="TEXT", help="what ends a record [\\n]"
    )
    parser.add_argument(
        "--empty-is-null", "-Z", action="store_true", help="an empty key or value is null"
    )
    parser.add_argument("--partition", "-p", type=whole_number(0, 2**31 - 1), metavar="N")
    parser.add_argument(
        "--compression", "-z", choices=[codec.name.lower() for codec in Codec], default="none"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--verbose", "-v", action="store_true", help="say where each record went")
    shown.add_argument("--json", action="store_true", help="say it in JSON lines")
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Publishes everything."""
    lines = LineFormat(
        delimiter=unescaped(options.delimiter, "--delimiter"),
        key_separator=(
            None if options.key_separator is None else unescaped(options.key_separator, "-K")
        ),
        is_json=options.json_lines,
        empty_is_null=options.empty_is_null,
        key=None if options.key is None else os.fsencode(options.key),
        headers=tuple(header_of(text) for text in options.header),
        partition=options.partition,
    )
    with _input(options) as source, connected(options, options.compression) as client:
        total = None if options.file is None else os.fstat(source.fileno()).st_size
        title = f"publishing to {options.topic}"
        with Progress(title, total, in_bytes=True) if total else nullcontext() as progress:
            if options.whole:
                batches: Iterable[tuple[list[NewRecord], int]] = _whole(source, lines)
            else:
                batches = lines.batches(_pieces(source))
            _publish(client, options, batches, source, progress)
    return WELL


def _publish(
    client: Client,
    options: argparse.Namespace,
    batches: Iterable[tuple[list[NewRecord], int]],
    source: BinaryIO,
    progress: Progress | None,
) -> None:
    ahead: deque[tuple[SyncPublishing, int]] = deque()

    def settle(left: int) -> None:
        while len(ahead) > left:
            publishing, size_bytes = ahead.popleft()
            _tell(publishing.results(), options)
            if progress is not None:
                progress.advance(size_bytes)

    try:
        for records, size_bytes in batches:
            ahead.append((client.publish_batch(options.topic, records), size_bytes))
            # Whoever types is told of each line before the next.
            settle(AHEAD_MAX if _has_more(source) else 0)
    except Refused:
        # A line that cannot be read ends the input; what came before it is told all the same.
        settle(0)
        raise
    settle(0)


def _tell(results: list[Published], options: argparse.Namespace) -> None:
    if options.json:
        for result in results:
            print_json_line(result)
    elif options.verbose:
        for result in results:
            print(f"{result.topic}/{result.partition}@{result.offset}")
    sys.stdout.flush()


def _input(options: argparse.Namespace) -> closing[BinaryIO] | nullcontext[BinaryIO]:
    if options.file is None:
        return nullcontext(sys.stdin.buffer)
    if os.path.isdir(options.file):
        raise Refused(f"{options.file} is a directory; name a file")
    return closing(open(options.file, "rb", buffering=0))


def _pieces(source: BinaryIO) -> Iterator[bytes]:
    """The input as it comes: what somebody types is published line by line."""
    while piece := os.read(source.fileno(), READ_BYTES):
        yield piece


def _has_more(source: BinaryIO) -> bool:
    """Whether reading on would not wait; a file that has ended counts as more too."""
    ready, _, _ = select.select([source], [], [], 0)
    return bool(ready)


def _whole(source: BinaryIO, lines: LineFormat) -> Iterator[tuple[list[NewRecord], int]]:
    value = b"".join(_pieces(source))
    yield [lines.record(value)], len(value)
