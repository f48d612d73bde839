"""What a pipeline defines: outputs, the flows into them, and what these read."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

Kind = Literal["table", "materialized view", "view", "sink"]

RIVERLOG = "riverlog"


class Read(NamedTuple):
    """A source somewhere outside the pipeline.

    An option whose value shows only when the definitions run is None. Where whole options may be
    unknown, `is_complete` is false.
    """

    format: str
    options: Mapping[str, str | None]
    is_streaming: bool
    is_complete: bool
    place: str


class Output(NamedTuple):
    """Where rows go; without a format, Spark's default one."""

    name: str
    kind: Kind
    format: str | None
    options: Mapping[str, str | None]
    is_complete: bool
    place: str


class Flow(NamedTuple):
    """A query that fills an output."""

    name: str
    target: str
    place: str


class Graph(NamedTuple):
    """All of it. What is not known before the definitions run is left out."""

    outputs: tuple[Output, ...] = ()
    flows: tuple[Flow, ...] = ()
    reads: tuple[Read, ...] = ()


class Problem(NamedTuple):
    """Why a pipeline should not be run, and where that stands."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def joined(graphs: Iterable[Graph]) -> Graph:
    """What several files define together."""
    graphs = list(graphs)
    return Graph(
        tuple(output for graph in graphs for output in graph.outputs),
        tuple(flow for graph in graphs for flow in graph.flows),
        tuple(read for graph in graphs for read in graph.reads),
    )
