"""The runs of a project: when, how they ended, and what they said."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from riverlog.pipelines.events import FlowResult, RunResult
from riverlog.pipelines.topics_there import Source

_FILE = "history.jsonl"


class Run(NamedTuple):
    """One of them; without an end it runs still, or was cut off."""

    number: int
    started_ms: int
    ended_ms: int | None
    result: RunResult | None


class History:
    """A file with a line for every start and every end; lines are only ever added."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def log_path(self, number: int) -> Path:
        """All that Spark said in a run."""
        return self._directory / f"{number:04}.log"

    def begin(self, now_ms: int) -> int:
        """A new run has this number."""
        self._directory.mkdir(parents=True, exist_ok=True)
        number = max((run.number for run in self.runs()), default=0) + 1
        self._add({"number": number, "started_ms": now_ms})
        return number

    def end(self, number: int, now_ms: int, result: RunResult) -> None:
        """How the run ended."""
        told = {
            "outcome": result.outcome,
            "cause": result.cause,
            "flows": [flow._asdict() for flow in result.flows],
            "sources": [source._asdict() for source in result.sources],
            "tables": list(result.tables),
        }
        self._add({"number": number, "ended_ms": now_ms, "result": told})

    def runs(self) -> list[Run]:
        """All of them, oldest first."""
        runs: dict[int, Run] = {}
        path = self._directory / _FILE
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                fact = json.loads(line)
                number = fact["number"]
                if "started_ms" in fact:
                    runs[number] = Run(number, fact["started_ms"], None, None)
                elif number in runs:
                    result = _result(fact["result"])
                    runs[number] = runs[number]._replace(ended_ms=fact["ended_ms"], result=result)
            except (ValueError, KeyError, TypeError):
                # A line that was cut off with its process tells nothing.
                continue
        return list(runs.values())

    def _add(self, fact: dict[str, Any]) -> None:
        # A line that was cut off must not take this one with it.
        with (self._directory / _FILE).open("a+b") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read() != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(fact, ensure_ascii=False).encode() + b"\n")


def _result(told: dict[str, Any]) -> RunResult:
    return RunResult(
        told["outcome"],
        told["cause"],
        tuple(FlowResult(**flow) for flow in told["flows"]),
        tuple(Source(**{**each, "topics": tuple(each["topics"])}) for each in told["sources"]),
        tuple(told["tables"]),
    )
