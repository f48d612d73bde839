"""Log lines as people and machines see them."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from riverlog.runtime import logs

LOGGER = "riverlog.tests"


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    root, ours = logging.getLogger(), logging.getLogger("riverlog")
    levels = (root.level, ours.level)
    yield lambda: capsys.readouterr().err
    root.handlers = [
        handler
        for handler in root.handlers
        if not isinstance(handler.formatter, logs.TextFormatter | logs.JsonFormatter)
    ]
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def failure() -> Exception:
    try:
        raise RuntimeError("it broke")
    except RuntimeError as error:
        return error


def text(**fields: object) -> str:
    return str(logs.Line("done", fields))


def test_a_line_is_the_phrase_and_its_fields_in_order() -> None:
    line = text(topic="orders", partition=3, size_bytes=67108864, rate=0.5)

    assert line == "done topic=orders partition=3 size_bytes=67108864 rate=0.5"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("two words", '"two words"'),
        ("", '""'),
        ('say "hi"', r'"say \"hi\""'),
        ("a=b", '"a=b"'),
        ("back\\slash", r'"back\\slash"'),
        ("one\ntwo", r'"one\ntwo"'),
        ("\x1b[31mred", r'"\u001b[31mred"'),
        ("\x9b31mred", r'"\u009b31mred"'),
        ("größe", "größe"),
        (None, "none"),
        (True, "true"),
        (b"\xff", "\"b'\\\\xff'\""),
        (ValueError("no such"), '"no such"'),
    ],
)
def test_values_that_could_be_misread_are_quoted(value: object, expected: str) -> None:
    assert text(key=value) == f"done key={expected}"


def test_text_goes_to_standard_error_with_time_level_and_logger(written: Callable[[], str]) -> None:
    logs.configure("info")

    logs.get(LOGGER).info("segment sealed", topic="orders", size_bytes=1)

    time, rest = written().split(" ", 1)
    assert rest == "INFO riverlog.tests: segment sealed topic=orders size_bytes=1\n"
    assert len(time) == len("2026-11-15T09:26:31.123Z")


def test_a_line_below_the_level_is_not_written(written: Callable[[], str]) -> None:
    logs.configure("warning")
    log = logs.get(LOGGER)

    log.debug("no")
    log.info("no")
    log.warning("yes")
    log.error("also")

    assert [line.split(" ", 1)[1] for line in written().splitlines()] == [
        "WARNING riverlog.tests: yes",
        "ERROR riverlog.tests: also",
    ]


def test_a_line_nobody_wants_is_never_rendered(written: Callable[[], str]) -> None:
    class Expensive:
        def __str__(self) -> str:
            raise AssertionError("rendered")

    logs.configure("info")

    logs.get(LOGGER).debug("no", value=Expensive())


def test_json_lines_can_be_parsed_and_keep_types(written: Callable[[], str]) -> None:
    logs.configure("debug", json=True)

    logs.get(LOGGER).debug("done", topic="a\nb", n=3, ok=True, none=None, nan=float("nan"), b=b"x")

    (line,) = written().splitlines()
    entry = json.loads(line)
    del entry["time"]
    assert entry == {
        "level": "debug",
        "logger": "riverlog.tests",
        "message": "done",
        "topic": "a\nb",
        "n": 3,
        "ok": True,
        "none": None,
        "nan": "nan",
        "b": "b'x'",
    }


def test_a_field_cannot_overwrite_what_every_json_line_has(written: Callable[[], str]) -> None:
    logs.configure(json=True)

    logs.get(LOGGER).info("compressed", level=3, message="mine")

    entry = json.loads(written())
    assert (entry["level"], entry["level_"]) == ("info", 3)
    assert (entry["message"], entry["message_"]) == ("compressed", "mine")


@pytest.mark.parametrize("is_json", [False, True])
def test_a_failure_brings_its_traceback(written: Callable[[], str], is_json: bool) -> None:
    logs.configure(json=is_json)

    logs.get(LOGGER).error("task failed", failure=failure(), task="flusher")

    report = json.loads(written())["traceback"] if is_json else written()
    assert "Traceback (most recent call last)" in report
    assert "RuntimeError: it broke" in report
    assert is_json or report.splitlines()[0].endswith("task failed task=flusher")


def test_other_packages_are_heard_from_warning_on(written: Callable[[], str]) -> None:
    logs.configure("debug")

    logging.getLogger("other").info("no %s", 1)
    logging.getLogger("other").warning("yes %s", 2)

    assert written().split(" ", 1)[1] == "WARNING other: yes 2\n"


def test_configuring_twice_writes_each_line_once(written: Callable[[], str]) -> None:
    logs.configure()
    logs.configure()

    logs.get(LOGGER).info("once")

    assert len(written().splitlines()) == 1


def test_a_wrong_level_is_refused_with_the_right_ones() -> None:
    with pytest.raises(ValueError, match="debug, info, warning, error"):
        logs.configure("loud")


def test_embedded_lines_reach_the_hosts_own_handlers(caplog: pytest.LogCaptureFixture) -> None:
    logs.get(LOGGER).warning("look here", topic="orders")

    (record,) = caplog.records
    assert record.getMessage() == "look here topic=orders"
    assert record.funcName == "test_embedded_lines_reach_the_hosts_own_handlers"


def test_importing_the_module_does_not_import_json() -> None:
    check = "import sys, riverlog.runtime.logs; sys.exit('json' in sys.modules)"

    assert subprocess.run([sys.executable, "-I", "-c", check], check=False).returncode == 0
