"""How a pipeline stands: from what its runs left behind, and from its brokers if they answer."""

from collections.abc import Sequence
from typing import NamedTuple

from riverlog.client.errors import ClientError, UnknownGroup
from riverlog.client.groups import GroupProgress
from riverlog.client.sync_client import connect
from riverlog.pipelines.definitions import read_definitions
from riverlog.pipelines.history import History, Run
from riverlog.pipelines.spec import Spec
from riverlog.pipelines.state import state_of
from riverlog.pipelines.table_rows import count_rows, table_directory
from riverlog.pipelines.topics_there import Source, sources_of

CLIENT_ID = "riverlog-pipeline"


class TableStatus(NamedTuple):
    """A table; its rows are None before its first run, and if it is not of Parquet files."""

    name: str
    rows: int | None


class SourceStatus(NamedTuple):
    """How far a stream is behind: None if its group has committed nothing, or nobody answers."""

    group: str
    bootstrap: str
    topics: tuple[str, ...]
    lag: int | None
    partitions: Sequence[GroupProgress]
    trouble: str | None


class Status(NamedTuple):
    """All of it; runs are the oldest first."""

    runs: Sequence[Run]
    tables: Sequence[TableStatus]
    sources: Sequence[SourceStatus]


def status_of(spec: Spec, *, asks_brokers: bool, timeout_ms: int) -> Status:
    """Tables and sources are those of the last run that had a graph, else those in the files."""
    state = state_of(spec)
    runs = History(state.runs).runs()
    known = [run.result for run in runs if run.result is not None and run.result.tables]
    if known:
        tables, sources = known[-1].tables, list(known[-1].sources)
    else:
        graph = read_definitions(spec).graph
        stored = [out for out in graph.outputs if out.kind in ("table", "materialized view")]
        tables, sources = tuple(out.name for out in stored), sources_of(graph)
    return Status(
        runs,
        [
            TableStatus(name, count_rows(table_directory(state.tables, name, spec.database)))
            for name in tables
        ],
        [
            _source(source, timeout_ms) if asks_brokers else _silent(source, None)
            for source in sources
        ],
    )


def _source(source: Source, timeout_ms: int) -> SourceStatus:
    try:
        with connect(source.bootstrap, client_id=CLIENT_ID, timeout_ms=timeout_ms) as client:
            progress = client.groups.progress(source.group)
    except UnknownGroup:
        return _silent(source, None)
    except ClientError as error:
        return _silent(source, str(error))
    lags = [each.lag for each in progress if each.lag is not None]
    return _silent(source, None)._replace(lag=sum(lags) if lags else None, partitions=progress)


def _silent(source: Source, trouble: str | None) -> SourceStatus:
    return SourceStatus(source.group, source.bootstrap, source.topics, None, (), trouble)
