"""`riverlog pipeline run`: once over everything new, through Spark's own runner."""

import argparse
import sys
from typing import Any

from riverlog.cli.arguments import Parser
from riverlog.cli.pipeline_validate import (
    add_conf,
    add_project,
    conf_of,
    print_problems,
    project_of,
)
from riverlog.cli.refusals import FAILED, REFUSED, WELL
from riverlog.cli.tables import Cell, print_json_line, print_table
from riverlog.pipelines.checking import check
from riverlog.pipelines.errors import PipelineFailed
from riverlog.pipelines.events import RunResult
from riverlog.pipelines.history import History
from riverlog.pipelines.running import Asked, run_spark
from riverlog.pipelines.spec import Spec
from riverlog.pipelines.state import state_of
from riverlog.runtime.clock import Clock, SystemClock
from riverlog.spark import environment
from riverlog.stores.directory_lock import DirectoryLock

SUMMARY = "run it once over everything new"
DESCRIPTION = """\
Checks the project as `validate` does, and refuses it for the same reasons. Then Spark's own runner
brings every table, view and sink up to date with what is in the topics now, and ends. Another run
goes on where this one ended: the catalog, the tables and the checkpoints are kept in the project.

Exit code 0 means that every flow completed. All that Spark says is kept in a file of its own."""
EXAMPLES = """\
Examples:
  riverlog pipeline run
  riverlog pipeline run ./shop --json
  riverlog pipeline run ./shop --full-refresh orders,totals     these tables from the beginning

A full refresh empties its tables and reads everything again; sinks then get everything again too,
as records that were written to a topic stay there."""

ROWS_MS = 1_000


def describe(parser: Parser) -> None:
    """Adds which project, and what to make anew."""
    add_project(parser)
    add_conf(parser)
    refresh = parser.add_mutually_exclusive_group()
    refresh.add_argument(
        "--full-refresh", metavar="TABLE,…", help="empty these and read everything again"
    )
    refresh.add_argument("--full-refresh-all", action="store_true", help="the same for all")
    parser.add_argument("--json", action="store_true", help="events as lines of JSON")


def run(options: argparse.Namespace) -> int:
    """Checks, runs, and tells how it went."""
    conf = conf_of(options)
    spec = project_of(options)
    checked = check(spec, asks_brokers=not options.offline, timeout_ms=options.timeout * 1000)
    if checked.problems:
        print_problems(checked.problems)
        return REFUSED if checked.in_files else FAILED
    environment.require()
    state = state_of(spec)
    state.directory.mkdir(exist_ok=True)
    with DirectoryLock(str(state.directory)):
        return _run(spec, conf, options, SystemClock())


def _run(spec: Spec, conf: dict[str, str], options: argparse.Namespace, clock: Clock) -> int:
    history = History(state_of(spec).runs)
    number = history.begin(clock.now_ms())
    log = history.log_path(number)
    telling = _Telling(clock, is_json=options.json)
    telling.begin(number, str(log))
    refresh = ["--full-refresh-all"] if options.full_refresh_all else []
    refresh += ["--full-refresh", options.full_refresh] if options.full_refresh else []
    asked = Asked("run", refresh, conf, not options.offline, options.timeout * 1000)
    result = RunResult("interrupted", "it was interrupted", (), (), ())
    try:
        result, problems = run_spark(spec, asked, log, telling.tell)
    finally:
        history.end(number, clock.now_ms(), result)
    telling.end(result)
    if problems:
        print_problems(problems)
        return REFUSED
    if result.outcome != "completed":
        raise PipelineFailed(f"run {number} failed: {result.cause} (all of it is in {log})")
    return WELL


class _Telling:
    """What people, or machines, see of a run while it goes on."""

    def __init__(self, clock: Clock, *, is_json: bool) -> None:
        self._clock = clock
        self._is_json = is_json
        self._rows: dict[str, int] = {}
        self._told_ms = clock.monotonic_ms()

    def begin(self, number: int, log: str) -> None:
        self._print({"kind": "begin", "run": number, "log": log}, f"run {number} begins; log {log}")

    def tell(self, event: dict[str, Any]) -> None:
        """One event of the run."""
        match event["kind"]:
            case "flow":
                cause = f": {event['cause']}" if "cause" in event else ""
                rows = self._rows.get(event["flow"])
                read = f", {rows:,} rows" if event["state"] == "completed" and rows else ""
                self._print(event, f"{event['flow']}  {event['state']}{read}{cause}")
            case "rows":
                name, rows = event["flow"], event["rows"]
                self._rows[name] = self._rows.get(name, 0) + rows
                self._tell_rows(event, name)
            case _ if self._is_json:
                self._print(event, "")

    def end(self, result: RunResult) -> None:
        """How it ended, flow by flow."""
        if self._is_json:
            print_json_line({"kind": "end", **result._asdict()})
            return
        rows: list[list[Cell]] = [
            [flow.name, flow.state, flow.rows, flow.failures] for flow in result.flows
        ]
        if rows:
            print()
            print_table(["flow", "state", "rows read", "failures"], rows)

    def _tell_rows(self, event: dict[str, Any], name: str) -> None:
        now_ms = self._clock.monotonic_ms()
        if self._is_json or now_ms - self._told_ms >= ROWS_MS:
            self._told_ms = now_ms
            self._print(event, f"{name}  {self._rows[name]:,} rows")

    def _print(self, event: dict[str, Any], text: str) -> None:
        if self._is_json:
            print_json_line(event)
        else:
            print(text)
        sys.stdout.flush()
