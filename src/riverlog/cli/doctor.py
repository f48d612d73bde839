"""`riverlog doctor`: what this disk and machine can do, in a few seconds and plain words."""

import argparse
import os
import signal
from collections.abc import Mapping
from types import FrameType

from riverlog.cli.arguments import Parser
from riverlog.cli.checkup.disk_speed import BUDGET_MS, PHASES, measure_disk
from riverlog.cli.checkup.machine import look_at_machine
from riverlog.cli.checkup.verdicts import BAD, in_one_sentence, judge
from riverlog.cli.progress import Progress
from riverlog.cli.refusals import FAILED, TERMINATED, WELL, Refused
from riverlog.cli.tables import print_json, table_lines
from riverlog.runtime.clock import SystemClock

DESCRIPTION = """\
Measures for three seconds what the disk under a directory can do, looks at the machine, and says
what that means for a broker: how long a durable write takes, whether a sync is one, how much room
there is. Leaves nothing behind. The exit code is 1 if data would not be safe here."""
EXAMPLES = """\
Examples:
  riverlog doctor                        the disk of this directory
  riverlog doctor --data /var/lib/riverlog
  riverlog doctor --json | jq .disk.append_us_p99"""

EXIT_CODES: Mapping[type[Exception], int] = {}


def describe(parser: Parser) -> None:
    """Adds where to look, and how to show it."""
    parser.add_argument(
        "--data", default=".", metavar="DIR", help="the directory whose disk is measured [.]"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    """Measures, judges and shows; 1 if something is bad."""
    directory = options.data
    if not os.path.isdir(directory):
        raise Refused(f"{directory} is no directory; name one that is there")
    # A service manager's way to stop us must not leave our files behind either.
    signal.signal(signal.SIGTERM, _end)
    clock = SystemClock()
    offset_ms = clock.now_ms() - clock.monotonic_ms()
    with Progress("measuring", PHASES * BUDGET_MS, shows_amount=False) as progress:
        disk = measure_disk(directory, progress.advance)
    machine = look_at_machine(directory)
    verdicts = judge(disk, machine, clock.now_ms() - clock.monotonic_ms() - offset_ms)
    summary = in_one_sentence(verdicts, disk)
    if options.json:
        print_json({"disk": disk, "machine": machine, "verdicts": verdicts, "summary": summary})
    else:
        # Advice that is cut at the edge of a terminal is none.
        print("\n".join([*table_lines(["", "found", "verdict", "advice"], verdicts), "", summary]))
    return FAILED if any(verdict.verdict == BAD for verdict in verdicts) else WELL


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)
