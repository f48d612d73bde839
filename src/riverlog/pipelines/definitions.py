"""What the files of a project define, read as text: no Spark, no Java, a few milliseconds."""

from typing import NamedTuple

from riverlog.pipelines.graph import Graph, Problem, joined
from riverlog.pipelines.python_text import read_python
from riverlog.pipelines.spec import Spec
from riverlog.pipelines.sql_text import read_sql


class Definitions(NamedTuple):
    """What could be read, and which files could not."""

    graph: Graph
    problems: tuple[Problem, ...]


def read_definitions(spec: Spec) -> Definitions:
    """All files that the spec names; what is wrong with one is a problem, not an error."""
    graphs: list[Graph] = []
    problems: list[Problem] = []
    for glob in spec.globs:
        pattern = f"{glob}/*" if glob.endswith("/**") else glob
        files = [
            path
            for path in sorted(spec.directory.glob(pattern))
            if path.is_file() and "__pycache__" not in path.parts
        ]
        if not files:
            problems.append(Problem(spec.path.name, f"no file is there for '{glob}'"))
        for path in files:
            file = str(path.relative_to(spec.directory))
            try:
                text = path.read_text("utf-8")
                if path.suffix == ".py":
                    graphs.append(read_python(text, file, spec.configuration))
                elif path.suffix == ".sql":
                    graphs.append(read_sql(text, file))
                else:
                    problems.append(Problem(file, "definitions are .py and .sql; move this away"))
            except SyntaxError as error:
                place = file if error.lineno is None else f"{file}:{error.lineno}"
                problems.append(Problem(place, f"is no Python: {error.msg}"))
            except (ValueError, RecursionError, MemoryError):
                problems.append(Problem(file, "is no readable text in UTF-8"))
    return Definitions(joined(graphs), tuple(problems))
