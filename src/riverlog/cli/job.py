"""`riverlog job`: work over whole topics: import, export, audit."""

import argparse
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Protocol, cast

from riverlog.cli import connecting
from riverlog.cli.arguments import Parser, Subcommands
from riverlog.cli.refusals import FAILED, REFUSED, Refused
from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.stores.data_directory import UnknownFormat
from riverlog.stores.directory_lock import AlreadyInUse

DESCRIPTION = """\
Works over whole topics on this machine: fills them from files, writes them out as Parquet tables,
and checks every byte of a broker's data."""
EXAMPLES = """\
Examples:
  riverlog job import customers.csv customers --key id
  riverlog job export orders ./orders-table           again later: adds only what is new
  riverlog job audit ./data                           beside a running broker, too"""

EXIT_CODES: Mapping[type[Exception], int] = {
    **connecting.EXIT_CODES,
    JobRefused: REFUSED,
    JobFailed: FAILED,
    AlreadyInUse: REFUSED,
    UnknownFormat: REFUSED,
}


class Job(Protocol):
    """What the module of a job holds; only the one asked for is loaded whole."""

    DESCRIPTION: str
    EXAMPLES: str
    describe: Callable[[Parser], None]
    run: Callable[[argparse.Namespace], int]


JOBS = {
    "import": ("riverlog.cli.job_import", "publish the rows of CSV, JSON or Parquet files"),
    "export": ("riverlog.cli.job_export", "write a topic into a Parquet table, incrementally"),
    "audit": ("riverlog.cli.job_audit", "check every byte of segments, straight from the files"),
}


def describe(parser: Parser) -> None:
    """Adds a word for each job."""
    jobs = Subcommands(parser, "job")
    for name, (_, summary) in JOBS.items():
        job = _load(name)
        job.describe(jobs.add(name, summary, job.DESCRIPTION, job.EXAMPLES))


def run(options: argparse.Namespace) -> int:
    """Does the job."""
    try:
        return _load(options.job).run(options)
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise Refused("this needs pyarrow: pip install riverlog[arrow]") from None


def _load(name: str) -> Job:
    # A module is one by its names, which type checkers cannot see through an import by name.
    return cast(Job, import_module(JOBS[name][0]))
