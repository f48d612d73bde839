"""`riverlog pipeline init`: a project that runs."""

import argparse
from pathlib import Path
from shlex import quote

from riverlog.cli.arguments import Parser
from riverlog.cli.connecting import DEFAULT, VARIABLE
from riverlog.cli.refusals import WELL
from riverlog.client.cluster import parse_bootstrap
from riverlog.config import environment
from riverlog.pipelines.new_project import create_project

SUMMARY = "make a project that runs"
DESCRIPTION = """\
Makes a directory with a pipeline: a topic becomes a table, the table a view with totals, and what
is large in it goes to another topic. Files that are there are never overwritten."""
EXAMPLES = """\
Examples:
  riverlog pipeline init shop
  riverlog pipeline init shop --topic orders --sink large-orders --bootstrap broker-1:9092"""


def describe(parser: Parser) -> None:
    """Adds the name, and what is read and written."""
    parser.add_argument("name", metavar="NAME", help="the directory; its last part is the name")
    parser.add_argument("--topic", default="orders", help="to read [%(default)s]")
    parser.add_argument("--sink", default="large-orders", help="topic to write [%(default)s]")
    parser.add_argument(
        "--bootstrap",
        "-b",
        metavar="HOST:PORT[,…]",
        default=environment().get(VARIABLE, DEFAULT),
        help="the brokers, for the project's settings [%(default)s]",
    )


def run(options: argparse.Namespace) -> int:
    """Writes the files."""
    parse_bootstrap(options.bootstrap)
    for path in create_project(Path(options.name), options.bootstrap, options.topic, options.sink):
        print(f"made {path}")
    print(f"\nnow: cd {quote(options.name)} && riverlog pipeline validate")
    return WELL
