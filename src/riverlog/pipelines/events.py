"""What happens in a run, one fact at a time, and what becomes of it in the end."""

import re
from typing import Any, Literal, NamedTuple

from riverlog.pipelines.spec import Spec
from riverlog.pipelines.topics_there import Source

Outcome = Literal["completed", "failed", "refused", "interrupted"]

_FLOW = re.compile(r"Flow '?(?P<name>.+?)'? (?:is |has |was |)(?P<state>[A-Z]{4,})\b")
_RUN = re.compile(r"Run (?:is|has) (?P<state>[A-Z]+)")
# One that is excluded was not asked for: only some tables were to be refreshed.
_BAD = ("failed", "skipped", "stopped")
_CAUSE_LETTERS_MAX = 400
_AROUND = re.compile(
    r"^\[STREAM_FAILED\] Query \[.*?\] terminated with exception: |(?:\s*SQLSTATE: \w+)+$"
)
_EXCEPTION = re.compile(r"^(?:[\w$]+\.)*[\w$]*(?:Error|Exception): (?P<text>\S.*)$", re.MULTILINE)
_OURS = re.compile(r"^riverlog\.[\w.]+: (?P<text>\S.*)$", re.MULTILINE)


class FlowResult(NamedTuple):
    """How a flow stands; `rows` are those it read, None where Spark does not count them."""

    name: str
    state: str
    rows: int | None = None
    failures: int = 0


class RunResult(NamedTuple):
    """How a run ended, or stands."""

    outcome: Outcome
    cause: str | None
    flows: tuple[FlowResult, ...]
    sources: tuple[Source, ...]
    tables: tuple[str, ...]


class Tally:
    """Adds up the events of a run."""

    def __init__(self) -> None:
        self._flows: dict[str, FlowResult] = {}
        self._cause_of_end: str | None = None
        self._causes: dict[str, str] = {}
        self._sources: tuple[Source, ...] = ()
        self._tables: tuple[str, ...] = ()
        self._is_complete = False
        self.problems: list[tuple[str, str]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Takes one event, in the order they came."""
        match event["kind"]:
            case "graph":
                self._sources = tuple(
                    Source(each["bootstrap"], each["group"], tuple(each["topics"]), each["place"])
                    for each in event["sources"]
                )
                self._tables = tuple(event["tables"])
            case "problem":
                self.problems.append((event["place"], event["text"]))
            case "flow":
                self._state(event["flow"], event["state"])
                if "cause" in event:
                    self._causes[event["flow"]] = event["cause"]
            case "rows":
                flow = self._flow(event["flow"])
                rows = (flow.rows or 0) + event["rows"]
                self._flows[flow.name] = flow._replace(rows=rows)
            case "run":
                self._is_complete = event["state"] == "completed"
            case "failed":
                self._cause_of_end = event["cause"]

    def result(self, *, exit_code: int) -> RunResult:
        """What it came to: only a run without a flow that failed is complete."""
        outcome: Outcome = "failed"
        if self.problems:
            outcome = "refused"
        elif self._is_complete and not exit_code and not self._bad():
            outcome = "completed"
        cause = None if outcome == "completed" else self._cause(exit_code)
        return RunResult(outcome, cause, tuple(self._flows.values()), self._sources, self._tables)

    def _flow(self, name: str) -> FlowResult:
        return self._flows.get(name, FlowResult(name, "queued"))

    def _state(self, name: str, state: str) -> None:
        flow = self._flow(name)
        failures = flow.failures + (state == "failed")
        self._flows[name] = flow._replace(state=state, failures=failures)

    def _bad(self) -> list[str]:
        return [flow.name for flow in self._flows.values() if flow.state in _BAD]

    def _cause(self, exit_code: int) -> str:
        if self.problems:
            return ": ".join(self.problems[0])
        bad = self._bad()
        for name in bad:
            if name in self._causes:
                return f"{name}: {self._causes[name]}"
        if self._cause_of_end is not None:
            return self._cause_of_end
        if bad:
            return f"{', '.join(bad)} did not complete"
        return f"Spark ended early, with exit code {exit_code}"


class Settling:
    """What may be told of flows: of one that fails, Spark says before that it has completed, and
    says twice that it has failed.
    """

    def __init__(self) -> None:
        self._held: list[dict[str, Any]] = []
        self._failed: set[str] = set()

    def take(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        """What may be told now."""
        if event["kind"] != "flow":
            return [*self.rest(), event]
        name = event["flow"]
        if event["state"] != "failed":
            self._failed.discard(name)
        elif name in self._failed:
            return []
        else:
            self._failed.add(name)
            self._held = [held for held in self._held if held["flow"] != name]
        told = [*self.rest(), event]
        if event["state"] == "completed":
            self._held = [told.pop()]
        return told

    def rest(self) -> list[dict[str, Any]]:
        """What is held back still, when nothing comes any more."""
        held, self._held = self._held, []
        return held


def event_of(spec: Spec, message: str) -> dict[str, Any] | None:
    """What a message of Spark's runner says, or None if nobody needs it."""
    first, _, rest = message.partition("\n")
    if found := _RUN.match(first):
        return {"kind": "run", "state": found["state"].lower()}
    if found := _FLOW.match(first):
        name = short_name(spec, found["name"])
        event = {"kind": "flow", "flow": name, "state": found["state"].lower()}
        return event | (
            {"cause": cause_of(rest.removeprefix("Error: "))} if event["state"] == "failed" else {}
        )
    return None


def short_name(spec: Spec, name: str) -> str:
    """A name without the catalog and the database that all share."""
    return name.replace("`", "").removeprefix(f"{spec.catalog}.{spec.database}.")


def cause_of(text: str) -> str:
    """The one line of an error that tells why, out of the hundreds that Spark may make of it.

    It is what our own source or sink said, else the innermost Python exception, else how it
    begins.
    """
    found = [*_OURS.finditer(text)] or ([*_EXCEPTION.finditer(text)] if "Traceback" in text else [])
    told = found[-1]["text"] if found else next(filter(str.strip, text.splitlines()), "")
    told = _AROUND.sub("", told.strip())
    return told[:_CAUSE_LETTERS_MAX] or "no reason was given"
