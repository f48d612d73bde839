"""Where a job runs: in this process, or on Spark for what is large."""

import argparse
import re
import sys
from collections.abc import Callable

from riverlog.cli.arguments import Parser
from riverlog.cli.refusals import Refused
from riverlog.cli.tables import size_text
from riverlog.config import MIB

HERE = "here"
SPARK = "spark"
AUTO = "auto"
MASTER = "local[*]"
# Spark needs some ten seconds to start, in which one process does about as much.
SPARK_BYTES_MIN = 512 * MIB

_MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\])?|local-cluster\[\d+,\s*\d+,\s*\d+\]|yarn"
    r"|k8s://\S+|spark://[^\s:,]+:\d{1,5}(,[^\s:,]+:\d{1,5})*"
)


def add_place(parser: Parser) -> None:
    """Adds `--on` and `--master`."""
    parser.add_argument(
        "--on",
        choices=(AUTO, HERE, SPARK),
        help=f"run in this process, on Spark, or by size: Spark from {size_text(SPARK_BYTES_MIN)}"
        f" on, if it can run here [{AUTO}]",
    )
    parser.add_argument(
        "--master",
        type=_master,
        metavar="URL",
        help="run on the Spark there, such as spark://host:7077; its machines must see the same"
        f" files [{MASTER}]",
    )


def choose_master(
    options: argparse.Namespace,
    size_bytes: Callable[[], int],
    *,
    only_here: str | None = None,
    gains_nothing: str | None = None,
) -> str | None:
    """The master to run at, None for this process; says which and why on standard error.

    `only_here` is why this job cannot go to Spark: raises `Refused` if that was asked for.
    `gains_nothing` is why it should not by itself. A small job that stays is told of to people
    alone: scripts that know nothing of Spark see what they always saw.
    """
    on = options.on or (SPARK if options.master is not None else AUTO)
    master = options.master or MASTER
    if on == HERE:
        if options.master is not None:
            raise Refused("--master says where Spark is, and --on here does without it")
        return None
    if on == SPARK:
        if only_here is not None:
            raise Refused(f"it cannot run on Spark: {only_here}")
        if (lack := _lack()) is not None:
            raise Refused(lack)
        _tell(f"on Spark at {master}, as asked")
        return str(master)
    size = size_bytes()
    why = f"{size_text(size)}, and Spark pays off from {size_text(SPARK_BYTES_MIN)} on"
    if size < SPARK_BYTES_MIN:
        if sys.stderr.isatty():
            _tell(f"in this process: {why}")
        return None
    hindrance = only_here or gains_nothing or _lack()
    if hindrance is not None:
        _tell(f"in this process, though there are {size_text(size)}: {hindrance}")
        return None
    _tell(f"on Spark at {master}: {why}")
    return str(master)


def _master(text: str) -> str:
    if text.startswith("sc://"):
        raise argparse.ArgumentTypeError(
            f"'{text}' is a Connect server, and jobs need a master such as spark://host:7077"
        )
    if not _MASTER.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no master: local[4], spark://host:7077, yarn or k8s://…"
        )
    return text


def _lack() -> str | None:
    """Why Spark cannot run here."""
    from riverlog.spark import SparkUnavailable, require

    try:
        require()
    except SparkUnavailable as reason:
        return str(reason)
    return None


def _tell(where: str) -> None:
    print(f"riverlog: {where}", file=sys.stderr, flush=True)
