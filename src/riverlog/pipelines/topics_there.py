"""Whether the brokers of a pipeline answer and have the topics it reads."""

from collections.abc import Iterable
from typing import NamedTuple

from riverlog.client.errors import ClientError
from riverlog.pipelines.graph import RIVERLOG, Graph, Problem
from riverlog.spark.errors import InvalidOption
from riverlog.spark.options import source_options
from riverlog.tables.brokers import SETTINGS, Brokers


class Source(NamedTuple):
    """What a stream of the pipeline reads, and the consumer group that tells how far it is."""

    bootstrap: str
    group: str
    topics: tuple[str, ...]
    place: str


def sources_of(graph: Graph, *, with_batches: bool = False) -> list[Source]:
    """The streams from topics whose options are all known; batch reads too, if asked for."""
    found = []
    for read in graph.reads:
        if read.format.lower() != RIVERLOG or not (read.is_streaming or with_batches):
            continue
        options = {name: text for name, text in read.options.items() if text is not None}
        if not read.is_complete or len(options) < len(read.options):
            continue
        try:
            known = source_options(options, is_streaming=read.is_streaming)
        except InvalidOption:
            continue
        topics = known.chosen.topics or tuple(known.chosen.partitions or ())
        found.append(Source(known.bootstrap, known.group, topics, read.place))
    return list(dict.fromkeys(found))


def missing_topics(graph: Graph, timeout_ms: int) -> list[Problem]:
    """Asks every broker that the pipeline reads from, once."""
    problems: list[Problem] = []
    by_bootstrap: dict[str, list[Source]] = {}
    for source in sources_of(graph, with_batches=True):
        by_bootstrap.setdefault(source.bootstrap, []).append(source)
    for bootstrap, sources in by_bootstrap.items():
        try:
            there = _topics(bootstrap, timeout_ms)
        except ClientError as error:
            problems.append(Problem(sources[0].place, str(error)))
            continue
        problems += _missing(sources, there, bootstrap)
    return problems


def _topics(bootstrap: str, timeout_ms: int) -> set[str]:
    with Brokers(bootstrap, SETTINGS._replace(timeout_ms=timeout_ms)) as brokers:
        return {view.name for view in brokers.topics()}


def _missing(sources: Iterable[Source], there: set[str], bootstrap: str) -> list[Problem]:
    return [
        Problem(source.place, f"there is no topic {topic} on {bootstrap}; create it first")
        for source in sources
        for topic in source.topics
        if topic not in there
    ]
