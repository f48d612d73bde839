"""Projects written for a test."""

from collections.abc import Mapping
from pathlib import Path

from riverlog.pipelines.definitions import read_definitions
from riverlog.pipelines.graph import Graph
from riverlog.pipelines.rules import problems_of
from riverlog.pipelines.spec import Spec, load_spec

SPEC = """\
name: shop
storage: file:///tmp/nowhere
libraries:
  - glob:
      include: transformations/**
"""
IMPORTS = "from pyspark import pipelines as dp\n"
BOOTSTRAP = "127.0.0.1:1"
SOURCE = f'spark.readStream.format("riverlog").option("kafka.bootstrap.servers", "{BOOTSTRAP}")'


def write_project(
    directory: Path, files: Mapping[str, str], configuration: Mapping[str, str] | None = None
) -> Spec:
    """A project whose definitions are these; Python files know `dp`."""
    settings = "".join(f"  {name}: '{text}'\n" for name, text in (configuration or {}).items())
    spec = directory / "spark-pipeline.yml"
    spec.write_text(SPEC + (f"configuration:\n{settings}" if settings else ""))
    (directory / "transformations").mkdir()
    for name, text in files.items():
        path = directory / "transformations" / name
        path.write_text(IMPORTS + text if name.endswith(".py") else text)
    return load_spec(spec)


def graph_of(spec: Spec) -> Graph:
    """What is read from its files; all of them can be."""
    graph, problems = read_definitions(spec)
    assert problems == ()
    return graph


def found_in(spec: Spec) -> list[str]:
    """Every problem, as people read it."""
    graph, problems = read_definitions(spec)
    return [str(problem) for problem in (*problems, *problems_of(spec, graph))]
