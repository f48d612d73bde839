"""Runs Spark's own pipeline runner, in a process of its own, and tells what happens in it.

It leads a session of its own, and ends with all in it when whoever started it is gone.

Its hooks are few: every command to Spark is looked at on its way, the graph is checked once it is
whole and before anything starts, and events and rows go to a pipe as lines of JSON.
"""

import json
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.pipelines import cli
from pyspark.sql.connect.client import SparkConnectClient
from pyspark.sql.connect.client.core import DefaultChannelBuilder
from pyspark.sql.session import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from riverlog.pipelines.events import Settling, cause_of, event_of, short_name
from riverlog.pipelines.graph import Problem
from riverlog.pipelines.recording import Recording
from riverlog.pipelines.rules import STARTS_WITH, problems_of
from riverlog.pipelines.spec import Spec, load_spec
from riverlog.pipelines.topics_there import missing_topics, sources_of

_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService$"


class Order(NamedTuple):
    """What this process is to do, from its one argument."""

    pipe: int
    spec: str
    arguments: list[str]
    asks_brokers: bool
    timeout_ms: int


class _Refused(Exception):
    """The graph has problems, and they have been told."""


class Driver:
    """Spark's runner with our hooks; there is one in a process."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._spec: Spec = load_spec(Path(order.spec))
        self._recording = Recording(self._spec)
        self._listener = _Rows(self)
        self._session: Any = None

    def run(self) -> int:
        """Gives the exit code: 0 it is complete, 1 it failed, 2 the graph was refused."""
        DefaultChannelBuilder.default_port = staticmethod(_port)
        execute, start, handle = (
            SparkConnectClient.execute_command,
            cli.start_run,
            cli.handle_pipeline_events,
        )
        SparkConnectClient.execute_command = _method(self._execute, execute)
        cli.start_run = partial(self._start, start)
        cli.handle_pipeline_events = partial(self._handle, handle)
        sys.argv = ["spark-pipelines", *self._order.arguments]
        try:
            cli.main()
        except _Refused:
            return 2
        return 0

    def tell(self, event: dict[str, Any]) -> None:
        """Writes one line to whoever started this process."""
        os.write(self._order.pipe, json.dumps(event).encode() + b"\n")

    def tell_rows(self, flow: str, rows: int) -> None:
        """Tells that a flow has read so many more."""
        self.tell({"kind": "rows", "flow": short_name(self._spec, flow), "rows": rows})

    def _execute(self, execute: Any, client: Any, command: Any, *rest: Any, **named: Any) -> Any:
        self._recording.note(command)
        return execute(client, command, *rest, **named)

    def _start(self, start: Any, spark: Any, *rest: Any, **named: Any) -> Any:
        graph = self._recording.graph
        problems = [*self._refused_settings(spark), *problems_of(self._spec, graph)]
        if self._order.asks_brokers and not problems:
            problems = missing_topics(graph, self._order.timeout_ms)
        for place, text in problems:
            self.tell({"kind": "problem", "place": place, "text": text})
        if problems:
            raise _Refused
        stored = [
            each.name for each in graph.outputs if each.kind in ("table", "materialized view")
        ]
        sources = [source._asdict() for source in sources_of(graph)]
        self.tell({"kind": "graph", "sources": sources, "tables": stored})
        self._session = spark
        spark.streams.addListener(self._listener)
        return start(spark, *rest, **named)

    def _refused_settings(self, spark: Any) -> Iterator[Problem]:
        """Settings of the spec that Spark does not take from flows: each of them would fail."""
        for name, value in self._spec.configuration.items():
            try:
                spark.conf.set(name, value)
            except PySparkException as error:
                yield Problem(self._spec.path.name, f"{cause_of(str(error))} {STARTS_WITH}")

    def _handle(self, handle: Any, results: Iterator[dict[str, Any]]) -> None:
        try:
            handle(self._told(results))
        finally:
            self._session.streams.removeListener(self._listener)

    def _told(self, results: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        settling = Settling()
        for result in results:
            if "pipeline_event_result" in result:
                event = event_of(self._spec, result["pipeline_event_result"].event.message)
                for settled in [] if event is None else settling.take(event):
                    self.tell(settled)
            yield result
        for settled in settling.rest():
            self.tell(settled)


class _Rows(StreamingQueryListener):  # type: ignore[misc] # pyspark has no types for mypy here
    """Hears of every micro-batch."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Nothing to tell yet."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """The name of a query is that of its flow."""
        self._driver.tell_rows(event.progress.name, event.progress.numInputRows)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """Nothing to tell."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - Spark's name
        """The runner's own events tell it."""


def _port() -> int:
    """Where the server of this process listens: a free port, so that two runs get along."""
    session = SparkSession._instantiatedSession  # noqa: SLF001 - as Spark's own tests find it
    if session is None:
        return 15002
    service = getattr(session._jvm, _SERVICE)  # noqa: SLF001 - as above
    return int(getattr(service, "MODULE$").localPort())


def _method(hook: Any, real: Any) -> Any:
    """A method that calls `hook(real, self, …)`."""

    def method(self: Any, *rest: Any, **named: Any) -> Any:
        return hook(real, self, *rest, **named)

    return method


def _end_when_left(pipe: int) -> None:
    """Waits until nobody reads the pipe any more, and ends this session: Java and all workers."""
    waiting = select.poll()
    waiting.register(pipe, 0)
    waiting.poll()
    os.killpg(0, signal.SIGTERM)


def main() -> int:
    """The process; whatever goes wrong is told in a sentence, and in full on standard error."""
    driver = Driver(order := Order(**json.loads(sys.argv[1])))
    threading.Thread(target=_end_when_left, args=[order.pipe], daemon=True).start()
    try:
        return driver.run()
    except Exception as error:  # noqa: BLE001 - definitions may raise anything
        traceback.print_exc()
        text = str(error) if isinstance(error, PySparkException) else f"{_kind(error)}{error}"
        driver.tell({"kind": "failed", "cause": cause_of(text)})
        return 1


def _kind(error: Exception) -> str:
    """What kind of an error it is, and where in the definitions it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}: " if frames else ""
    return f"{place}{type(error).__name__}: "


if __name__ == "__main__":
    sys.exit(main())
