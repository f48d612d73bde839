"""What is made of what Spark's runner says: states, causes, and how a run ended."""

from pathlib import Path
from typing import Any

import pytest

from riverlog.pipelines.events import FlowResult, Settling, Tally, cause_of, event_of
from riverlog.pipelines.spec import Spec

SPEC = Spec(Path("/p/spark-pipeline.yml"), "p", "file:///s", "spark_catalog", "default", {}, ())
FAILURE = """\
Flow 'spark_catalog.default.orders' has FAILED.
Error: [STREAM_FAILED] Query [id = 9] terminated with exception: Traceback (most recent call last):
  File "telling.py", line 25, in told
    raise reason
riverlog.client.errors.UnknownTopic: topic nowhere: unknown topic or partition
 SQLSTATE: 38000 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: spark_catalog.default.orders [id = 9]
"""


def flow(name: str, state: str, **more: str) -> dict[str, Any]:
    return {"kind": "flow", "flow": name, "state": state, **more}


@pytest.mark.parametrize(
    ("message", "event"),
    [
        ("Flow spark_catalog.default.orders is QUEUED.", flow("orders", "queued")),
        ("Flow large_orders has COMPLETED.", flow("large_orders", "completed")),
        ("Flow 'a b' SKIPPED due to upstream failure(s).", flow("a b", "skipped")),
        (
            FAILURE,
            flow("orders", "failed", cause="topic nowhere: unknown topic or partition"),
        ),
        (
            "Flow 'x' has FAILED more than 2 times and will not be restarted.\nError: no",
            flow("x", "failed", cause="no"),
        ),
        ("Run is COMPLETED.", {"kind": "run", "state": "completed"}),
        ("Something else", None),
    ],
)
def test_messages_are_understood(message: str, event: dict[str, Any] | None) -> None:
    assert event_of(SPEC, message) == event


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "[TABLE_OR_VIEW_NOT_FOUND] no `x`. SQLSTATE: 42P01\n== SQL ==",
            "[TABLE_OR_VIEW_NOT_FOUND]",
        ),
        ("Traceback (most recent call last):\nValueError: a\nKeyError: b\n more", "b"),
        ("a.py:3: NameError: no x", "a.py:3: NameError: no x"),
        (
            "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: no worker."
            " SQLSTATE: XXKST\n=== Streaming Query ===",
            "no worker.",
        ),
        ("", "no reason was given"),
        ("x" * 1000, "x" * 400),
    ],
)
def test_the_cause_is_one_line(text: str, cause: str) -> None:
    told = cause_of(text)

    assert told.startswith(cause)
    assert "\n" not in told
    assert "SQLSTATE" not in told


def test_a_flow_that_fails_has_not_completed_before() -> None:
    settling = Settling()
    events = [
        flow("a", "running"),
        flow("a", "completed"),
        flow("a", "failed"),
        flow("b", "completed"),
        {"kind": "run", "state": "completed"},
    ]

    told = [each for event in events for each in settling.take(event)] + settling.rest()

    assert told == [events[0], events[2], events[3], events[4]]


def test_a_failure_that_is_said_twice_is_told_once() -> None:
    settling = Settling()
    events = [flow("a", "failed"), flow("a", "failed"), flow("a", "starting"), flow("a", "failed")]

    told = [each for event in events for each in settling.take(event)]

    assert told == [events[0], events[2], events[3]]


def test_what_is_held_back_at_the_end_is_told() -> None:
    settling = Settling()

    assert settling.take(flow("a", "completed")) == []
    assert settling.rest() == [flow("a", "completed")]


def tallied(*events: dict[str, Any]) -> Tally:
    tally = Tally()
    for event in events:
        tally.add(event)
    return tally


COMPLETED = {"kind": "run", "state": "completed"}


def test_rows_add_up_and_a_repeated_flow_is_told() -> None:
    tally = tallied(
        flow("a", "running"),
        {"kind": "rows", "flow": "a", "rows": 3},
        flow("a", "failed", cause="x"),
        {"kind": "rows", "flow": "a", "rows": 4},
        flow("a", "completed"),
        COMPLETED,
    )

    result = tally.result(exit_code=0)

    assert result.outcome == "completed"
    assert result.flows == (FlowResult("a", "completed", 7, 1),)


def test_a_flow_that_was_not_asked_for_need_not_complete() -> None:
    result = tallied(flow("a", "completed"), flow("b", "excluded"), COMPLETED).result(exit_code=0)

    assert result.outcome == "completed"


@pytest.mark.parametrize(
    ("events", "exit_code", "cause"),
    [
        ([flow("a", "completed")], 0, "Spark ended early, with exit code 0"),
        ([COMPLETED], 3, "Spark ended early, with exit code 3"),
        ([flow("a", "failed"), flow("b", "skipped"), COMPLETED], 0, "a, b did not complete"),
        ([{"kind": "failed", "cause": "no x"}], 1, "no x"),
        (
            [flow("a", "failed", cause="no a"), {"kind": "failed", "cause": "no x"}],
            1,
            "a: no a",
        ),
        (
            [
                flow("a", "failed", cause="x"),
                flow("a", "completed"),
                flow("b", "failed", cause="y"),
            ],
            1,
            "b: y",
        ),
    ],
)
def test_only_a_run_in_which_all_went_well_is_complete(
    events: list[dict[str, Any]], exit_code: int, cause: str
) -> None:
    result = tallied(*events).result(exit_code=exit_code)

    assert result.outcome == "failed"
    assert result.cause == cause
