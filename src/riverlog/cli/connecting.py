"""How commands reach a broker: where it is, how long to wait, and what can go wrong."""

import argparse
from collections.abc import Mapping

from riverlog.cli.arguments import Parser, whole_number
from riverlog.cli.refusals import FAILED, REFUSED
from riverlog.client.async_client import Compression
from riverlog.client.errors import ClientError, InvalidArgument
from riverlog.client.sync_client import Client, connect
from riverlog.config import environment

VARIABLE = "RIVERLOG_BOOTSTRAP"
DEFAULT = "127.0.0.1:9092"
TIMEOUT_S = 10
CLIENT_ID = "riverlog-cli"

EXIT_CODES: Mapping[type[Exception], int] = {InvalidArgument: REFUSED, ClientError: FAILED}


def add_connection(parser: Parser) -> None:
    """Adds `--bootstrap` and `--timeout`."""
    parser.add_argument(
        "--bootstrap",
        "-b",
        metavar="HOST:PORT[,…]",
        default=environment().get(VARIABLE, DEFAULT),
        help=f"the brokers, or set {VARIABLE} [%(default)s]",
    )
    add_timeout(parser)


def add_timeout(parser: Parser) -> None:
    """Adds `--timeout` alone, for brokers that are named elsewhere."""
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=whole_number(1, 86_400),
        default=TIMEOUT_S,
        help="how long the broker may take to answer, restarts included [%(default)s]",
    )


def connected(options: argparse.Namespace, compression: Compression = "none") -> Client:
    """A client of the brokers that were asked for; close it."""
    return connect(
        options.bootstrap,
        client_id=CLIENT_ID,
        timeout_ms=options.timeout * 1000,
        compression=compression,
    )
