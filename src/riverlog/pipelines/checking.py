"""Everything that can be said of a project before Spark is started."""

from typing import NamedTuple

from riverlog.pipelines.definitions import read_definitions
from riverlog.pipelines.graph import Graph, Problem
from riverlog.pipelines.rules import problems_of
from riverlog.pipelines.spec import Spec
from riverlog.pipelines.state import check_state
from riverlog.pipelines.topics_there import missing_topics


class Checked(NamedTuple):
    """What the files define, what is wrong with them, and what is wrong with the brokers.

    Brokers are asked only if nothing is wrong with the files.
    """

    graph: Graph
    in_files: list[Problem]
    at_brokers: list[Problem]

    @property
    def problems(self) -> list[Problem]:
        """All of them."""
        return [*self.in_files, *self.at_brokers]


def check(spec: Spec, *, asks_brokers: bool, timeout_ms: int) -> Checked:
    """Reads the files and asks the brokers; raises `PipelineRefused` if there is no going on."""
    check_state(spec)
    graph, unreadable = read_definitions(spec)
    in_files = [*unreadable, *problems_of(spec, graph)]
    asks = asks_brokers and not in_files
    return Checked(graph, in_files, missing_topics(graph, timeout_ms) if asks else [])
