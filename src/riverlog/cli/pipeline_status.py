"""`riverlog pipeline status`: runs, rows in each table, lag of each source; Spark stays away."""

import argparse

from riverlog.cli.arguments import Parser
from riverlog.cli.inspection.batches import time_text
from riverlog.cli.pipeline_validate import add_project, project_of
from riverlog.cli.refusals import WELL
from riverlog.cli.tables import Cell, print_json, print_table
from riverlog.pipelines.history import History, Run
from riverlog.pipelines.spec import Spec
from riverlog.pipelines.state import state_of
from riverlog.pipelines.status import Status, status_of
from riverlog.stores.directory_lock import AlreadyInUse, DirectoryLock

SUMMARY = "show runs, rows and lag"
DESCRIPTION = """\
Shows the last runs and how they ended, the rows in each table, and how far the sources are behind
their topics, by the groups they commit to. Nothing is started for it; without a broker all but the
lag is shown."""
EXAMPLES = """\
Examples:
  riverlog pipeline status
  riverlog pipeline status ./shop --json"""

RUNS_MAX = 10


def describe(parser: Parser) -> None:
    """Adds which project."""
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    """Reads what runs left behind, and asks the brokers."""
    spec = project_of(options)
    status = status_of(spec, asks_brokers=not options.offline, timeout_ms=options.timeout * 1000)
    is_running = _is_running(spec)
    last = status.runs[-1:]
    runs = [
        (each, _outcome(each, is_running=is_running and each in last))
        for each in status.runs[-RUNS_MAX:]
    ]
    if options.json:
        _print_json(spec, status, runs)
    else:
        _print(spec, status, runs)
    return WELL


def _print(spec: Spec, status: Status, runs: list[tuple[Run, str]]) -> None:
    print(f"{spec.name}  ({spec.path})\n")
    if runs:
        rows: list[list[Cell]] = [
            [
                each.number,
                time_text(each.started_ms),
                None if each.ended_ms is None else (each.ended_ms - each.started_ms) / 1000,
                outcome,
                None if each.result is None else each.result.cause,
            ]
            for each, outcome in runs
        ]
        print_table(["run", "started", "seconds", "outcome", "cause"], rows)
    else:
        print("it has not been run yet")
    if status.tables:
        print()
        print_table(["table", "rows"], [[table.name, table.rows] for table in status.tables])
    if status.sources:
        print()
        print_table(
            ["group", "topics", "lag"],
            [[each.group, ", ".join(each.topics) or None, each.lag] for each in status.sources],
        )
    for trouble in dict.fromkeys(each.trouble for each in status.sources if each.trouble):
        print(f"lag is not known: {trouble}")


def _print_json(spec: Spec, status: Status, runs: list[tuple[Run, str]]) -> None:
    history = History(state_of(spec).runs)
    print_json(
        {
            "name": spec.name,
            "spec": str(spec.path),
            "runs": [
                {
                    "number": each.number,
                    "outcome": outcome,
                    "started_ms": each.started_ms,
                    "ended_ms": each.ended_ms,
                    "cause": None if each.result is None else each.result.cause,
                    "flows": [] if each.result is None else list(each.result.flows),
                    "log": str(history.log_path(each.number)),
                }
                for each, outcome in runs
            ],
            "tables": list(status.tables),
            "sources": list(status.sources),
        }
    )


def _outcome(run: Run, *, is_running: bool) -> str:
    if run.result is not None:
        return run.result.outcome
    return "running" if is_running else "cut off"


def _is_running(spec: Spec) -> bool:
    """Whether somebody has the project's state to themselves just now."""
    try:
        DirectoryLock(str(state_of(spec).directory)).release()
    except AlreadyInUse:
        return True
    except OSError:
        return False
    return False
