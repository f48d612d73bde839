"""`riverlog`: the command people type.

Exit codes: 0 all went well, 1 it was tried and failed, 2 it was asked for wrongly.
"""

import argparse
import sys
from collections.abc import Sequence

from riverlog import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "serve":
        from riverlog.cli.serve import serve

        return serve(options)
    parser.print_help()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="riverlog",
        description="An event log that speaks the Kafka protocol.",
        epilog="First steps: `riverlog serve --data ./data`, then point any Kafka client at it.",
    )
    parser.add_argument("--version", action="version", version=f"riverlog {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands")
    serve = commands.add_parser(
        "serve",
        help="run a broker until it is told to stop",
        description="Runs a broker until SIGTERM or Ctrl-C: it then answers what it was asked, "
        "and stops. A second signal stops it at once.",
        epilog="Example: riverlog serve --data ./data --listen 127.0.0.1:9092",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    serve.add_argument(
        "--data", required=True, metavar="DIR", help="where topics are kept; made if missing"
    )
    serve.add_argument(
        "--listen", default="127.0.0.1:9092", metavar="HOST:PORT", help="port 0 takes a free one"
    )
    serve.add_argument(
        "--advertise", metavar="HOST:PORT", help="the address clients are told, if it differs"
    )
    serve.add_argument(
        "--num-partitions",
        type=_partition_count,
        default=4,
        metavar="N",
        help="of topics that are made without saying how many",
    )
    serve.add_argument(
        "--auto-create-topics",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="make a topic when a client first asks for it",
    )
    serve.add_argument("--log-level", default="info", choices=["debug", "info", "warning", "error"])
    serve.add_argument("--log-json", action="store_true", help="log JSON lines")
    return parser


def _partition_count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 100_000):
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 100000")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
