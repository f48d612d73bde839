"""Spark's own runner in a process of its own: what it says goes to a log, what happens to us."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from riverlog.config import environment
from riverlog.pipelines.events import RunResult, Tally
from riverlog.pipelines.graph import Problem
from riverlog.pipelines.spec import Spec
from riverlog.pipelines.state import conf_of

_END_S_MAX = 20


class Asked(NamedTuple):
    """What to let Spark do: `run` or `dry-run`, with the arguments of Spark's own command."""

    action: str
    arguments: Sequence[str]
    conf: Mapping[str, str]
    asks_brokers: bool
    timeout_ms: int


class Ended(NamedTuple):
    """How it went, and every problem for which it was not even begun."""

    result: RunResult
    problems: list[Problem]


def run_spark(
    spec: Spec, asked: Asked, log: Path, on_event: Callable[[dict[str, Any]], None]
) -> Ended:
    """Returns when it is over; ends it on the way if anything is raised here, Ctrl-C too."""
    reading, writing = os.pipe()
    order = {
        "pipe": writing,
        "spec": str(spec.path),
        "arguments": [asked.action, "--spec", str(spec.path), *asked.arguments],
        "asks_brokers": asked.asks_brokers,
        "timeout_ms": asked.timeout_ms,
    }
    tally = Tally()
    with open(reading, encoding="utf-8") as events, log.open("ab") as said:
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "riverlog.pipelines.driver", json.dumps(order)],
                cwd=spec.directory,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                pass_fds=[writing],
                env=_variables(spec, asked.conf),
                start_new_session=True,
            )
        finally:
            os.close(writing)
        try:
            for line in events:
                event = json.loads(line)
                tally.add(event)
                on_event(event)
            code = process.wait()
        finally:
            _end(process)
    return Ended(tally.result(exit_code=code), [Problem(*each) for each in tally.problems])


def _variables(spec: Spec, conf: Mapping[str, str]) -> dict[str, str]:
    """Settings are in one piece: of several, Spark's local server keeps only the last."""
    return {
        "SPARK_REMOTE": "local[*]",
        **environment(),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYSPARK_REMOTE_INIT_CONF_LEN": "1",
        "PYSPARK_REMOTE_INIT_CONF_0": json.dumps(conf_of(spec, conf)),
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leaves nothing running: Java is a child of the runner, in the session made for both."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(_END_S_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
