"""`riverlog pipeline`: Spark's declarative pipelines over topics, checked before they run."""

import argparse
from collections.abc import Mapping
from typing import Protocol

from riverlog.cli import (
    connecting,
    pipeline_init,
    pipeline_run,
    pipeline_status,
    pipeline_validate,
)
from riverlog.cli.arguments import Parser, Subcommands
from riverlog.cli.refusals import FAILED, REFUSED
from riverlog.pipelines.errors import PipelineFailed, PipelineRefused
from riverlog.spark.errors import SparkUnavailable
from riverlog.stores.directory_lock import AlreadyInUse

DESCRIPTION = """\
Makes, checks, runs and shows projects of Spark's own Declarative Pipelines: tables and views that
are filled from topics, run by run, and sinks back into topics."""
EXAMPLES = """\
Examples:
  riverlog pipeline init shop && cd shop     a project that runs, with comments that explain it
  riverlog pipeline validate                 what would lose rows or fail later
  riverlog pipeline run                      once over everything new
  riverlog pipeline status                   runs, rows, lag

They need Java 17 or newer and: pip install 'riverlog[spark]' 'pyspark[pipelines]'"""

EXIT_CODES: Mapping[type[Exception], int] = {
    **connecting.EXIT_CODES,
    PipelineRefused: REFUSED,
    PipelineFailed: FAILED,
    SparkUnavailable: REFUSED,
    AlreadyInUse: REFUSED,
}


class Action(Protocol):
    """What the module of an action holds."""

    SUMMARY: str
    DESCRIPTION: str
    EXAMPLES: str

    def describe(self, parser: Parser) -> None:
        """Adds what may follow the action's name."""

    def run(self, options: argparse.Namespace) -> int:
        """Does it, and gives the exit code."""


ACTIONS: Mapping[str, Action] = {
    "init": pipeline_init,
    "validate": pipeline_validate,
    "run": pipeline_run,
    "status": pipeline_status,
}


def describe(parser: Parser) -> None:
    """Adds a word for each action."""
    actions = Subcommands(parser, "action")
    for name, action in ACTIONS.items():
        action.describe(actions.add(name, action.SUMMARY, action.DESCRIPTION, action.EXAMPLES))


def run(options: argparse.Namespace) -> int:
    """Does it."""
    return ACTIONS[options.action].run(options)
