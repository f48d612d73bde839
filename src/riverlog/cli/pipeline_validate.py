"""`riverlog pipeline validate`: what would lose rows or fail later, before it does."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable

from riverlog.cli.arguments import Parser
from riverlog.cli.connecting import add_timeout
from riverlog.cli.printable import printable
from riverlog.cli.refusals import FAILED, REFUSED, WELL, Refused
from riverlog.cli.tables import print_json
from riverlog.pipelines.checking import check
from riverlog.pipelines.graph import Graph, Problem
from riverlog.pipelines.rules import check_conf
from riverlog.pipelines.running import Asked, run_spark
from riverlog.pipelines.spec import Spec, find_spec, load_spec
from riverlog.pipelines.state import state_of
from riverlog.spark import environment
from riverlog.stores.directory_lock import DirectoryLock

SUMMARY = "find what would lose rows or fail later"
DESCRIPTION = """\
Looks for what is known to lose rows or to fail once Spark has started, and prints a line for each:
two flows into one table of plain files, a catalog that forgets its tables, options that nobody
knows or that never arrive, brokers that do not answer, topics that are not there.

First it reads the files, without running them, and asks the brokers. Then Spark runs the
definitions and checks the whole graph without moving a row; that takes as long as Spark takes to
start, sees what loops and calls define, and can be left out with --quick."""
EXAMPLES = """\
Examples:
  riverlog pipeline validate
  riverlog pipeline validate ./shop --quick
  riverlog pipeline validate ./shop --offline --json

Exit codes: 0 nothing was found, 2 the project is to be mended, 1 the brokers are not ready."""


def describe(parser: Parser) -> None:
    """Adds which project, and how much of the world to ask."""
    add_project(parser)
    add_conf(parser)
    parser.add_argument("--quick", action="store_true", help="only read the files; no Spark")
    parser.add_argument("--json", action="store_true", help="as JSON")


def add_project(parser: Parser) -> None:
    """Adds the path of a project, and whether its brokers are asked."""
    parser.add_argument(
        "path", nargs="?", default=".", metavar="PATH", help="a project or its spec [%(default)s]"
    )
    parser.add_argument("--offline", action="store_true", help="ask no brokers")
    add_timeout(parser)


def add_conf(parser: Parser) -> None:
    """Adds settings for Spark."""
    parser.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting with which Spark starts; may be given again",
    )


def conf_of(options: argparse.Namespace) -> dict[str, str]:
    """The settings that were given; raises `Refused`, or `PipelineRefused` for a harmful one."""
    conf = {}
    for text in options.conf:
        name, found, value = text.partition("=")
        if not found or not name.startswith("spark."):
            raise Refused(f"--conf is like spark.driver.memory=2g, not '{text}'")
        conf[name] = value
    check_conf(conf)
    return conf


def project_of(options: argparse.Namespace) -> Spec:
    """The project that was asked for; raises `PipelineRefused`."""
    return load_spec(find_spec(options.path))


def run(options: argparse.Namespace) -> int:
    """Reads, asks, and lets Spark look."""
    conf = conf_of(options)
    spec = project_of(options)
    checked = check(spec, asks_brokers=not options.offline, timeout_ms=options.timeout * 1000)
    problems = checked.problems
    code = REFUSED if checked.in_files else FAILED if checked.at_brokers else WELL
    if not problems and not options.quick:
        problems = _dry_run(spec, conf, options)
        code = REFUSED if problems else WELL
    if options.json:
        print_json({"name": spec.name, "spec": str(spec.path), "problems": list(problems)})
    elif problems:
        print_problems(problems)
    else:
        looked = ["the files"] + ["the brokers"] * (not options.offline)
        looked += ["Spark's dry run"] * (not options.quick)
        print(f"{spec.name}: {_counted(checked.graph)}; no problem in {', '.join(looked)}")
    return code


def _dry_run(spec: Spec, conf: dict[str, str], options: argparse.Namespace) -> list[Problem]:
    """What Spark finds when it analyzes the graph, and what we find in it."""
    environment.require()
    state = state_of(spec)
    state.runs.mkdir(parents=True, exist_ok=True)
    log = state.runs / "validate.log"
    log.unlink(missing_ok=True)
    asked = Asked("dry-run", (), conf, not options.offline, options.timeout * 1000)
    with DirectoryLock(str(state.directory)):
        result, problems = run_spark(spec, asked, log, lambda _: None)
    if result.outcome == "failed":
        problems = [Problem(spec.path.name, f"{result.cause} (all of it is in {log})")]
    return problems


def print_problems(problems: Iterable[Problem]) -> None:
    """A line for each, where complaints go."""
    for problem in problems:
        print(f"riverlog: {printable(str(problem))}", file=sys.stderr)


def _counted(graph: Graph) -> str:
    kinds = Counter(output.kind for output in graph.outputs) + Counter(flow=len(graph.flows))
    return ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in kinds.items())
