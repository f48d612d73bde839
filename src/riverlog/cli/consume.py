"""`riverlog consume`: the records of a topic, written out."""

import argparse
import sys
from datetime import datetime
from typing import Literal

from riverlog.cli.arguments import Parser, whole_number
from riverlog.cli.connecting import EXIT_CODES, add_connection, connected
from riverlog.cli.places import add_partitions, place_of
from riverlog.cli.record_formats import FORMATS, format_of
from riverlog.cli.refusals import WELL, Refused
from riverlog.client.source import ReadingOptions

__all__ = ["DESCRIPTION", "EXAMPLES", "EXIT_CODES", "describe", "run"]

DESCRIPTION = """\
Prints the records of a topic that are there, like `cat`; with --follow it goes on with those that
come, like `tail -f`, through restarts of the broker.

A place is "earliest", "latest", an offset, a negative number for the last so many of each
partition, or a time: 2026-01-31, 2026-01-31T12:00:00+01:00, or @ and milliseconds since 1970.
A time without a zone is in UTC."""
EXAMPLES = r"""Examples:
  riverlog consume orders                                   all that is there
  riverlog consume orders --from latest --follow            what is published from now on
  riverlog consume orders --from 2026-01-31 --until 2026-02-01 --format json
  riverlog consume orders --from -10                        the last ten of each partition
  riverlog consume orders --count 5 --format '%p:%o %k=%s\n'

In a --format: %s value, %k key, %t topic, %p partition, %o offset, %T timestamp in ms,
%h headers, %S and %K the lengths of value and key (-1 for null), %% a percent sign."""


def describe(parser: Parser) -> None:
    """Adds what to read, and how to write it."""
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "--from", dest="start", default="earliest", metavar="PLACE", help="[%(default)s]"
    )
    parser.add_argument(
        "--until", metavar="PLACE", help='"end" (of what is there), or a time: stop before it'
    )
    parser.add_argument("--follow", "-f", action="store_true", help="go on with what comes")
    parser.add_argument(
        "--count", "-c", type=whole_number(0), metavar="N", help="stop after so many records"
    )
    parser.add_argument(
        "--idle",
        type=whole_number(1, 86_400),
        metavar="SECONDS",
        help="stop when nothing came for so long",
    )
    add_partitions(parser)
    parser.add_argument(
        "--format",
        default="value",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)}, or a text with %%-letters as below [%(default)s]",
    )
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="--format json"
    )
    add_connection(parser)


def run(options: argparse.Namespace) -> int:
    """Writes every record to standard output, and flushes whenever there are no more for now."""
    write = format_of(options.format)
    out = sys.stdout.buffer
    with connected(options) as client:
        for records in client.subscribe(options.topic, **_reading(options)).chunks():
            out.write(b"".join(map(write, records)))
            out.flush()
    return WELL


def _reading(options: argparse.Namespace) -> ReadingOptions:
    start = place_of(options.start, "--from")
    # Without an end there is none: whoever asks for what is to come wants to see it come.
    is_endless = options.follow or start == "latest"
    until: Literal["end"] | datetime | None = None if is_endless else "end"
    if options.until is not None and options.until != "end":
        if options.follow:
            raise Refused("--follow goes on for ever; --until says when to stop: choose one")
        end = place_of(options.until, "--until")
        if not isinstance(end, datetime):
            raise Refused(f"--until is \"end\" or a time, not '{options.until}'")
        until = end
    reading: ReadingOptions = {
        "start": start,
        "until": until,
        "partitions": options.partition,
        "count": options.count,
        "timeout_ms": None if options.idle is None else options.idle * 1000,
    }
    if not is_endless:
        reading["outage_ms_max"] = options.timeout * 1000
    return reading
