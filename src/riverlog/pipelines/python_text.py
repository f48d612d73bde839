"""What a Python file of definitions defines, from its text alone: nothing of it is run.

Values are known if they are written out, are constants of the file, or come from the pipeline's
configuration. What a loop, a call or another module makes is not known here; Spark's own runner
sees it, and `recording` with it.
"""

import ast
from collections.abc import Mapping

from riverlog.pipelines.graph import Flow, Graph, Kind, Output, Read
from riverlog.pipelines.python_values import UNKNOWN, Values

_KINDS: dict[str, Kind] = {
    "table": "table",
    "materialized_view": "materialized view",
    "temporary_view": "view",
}
_FUNCTIONS = {*_KINDS, "append_flow", "create_streaming_table", "create_sink"}
_CDC = "create_auto_cdc_flow"
_MODULE = "pyspark.pipelines"


def read_python(text: str, file: str, configuration: Mapping[str, str]) -> Graph:
    """What the file defines; raises `SyntaxError`."""
    # A file may begin with anything, and a null byte is a ValueError to the parser.
    if "\0" in text:
        raise SyntaxError("it holds a null byte", (file, 1, 0, None))
    reading = _Reading(file, ast.parse(text, file), configuration)
    return reading.graph()


class _Reading:
    def __init__(self, file: str, tree: ast.Module, configuration: Mapping[str, str]) -> None:
        self._file = file
        self._tree = tree
        self._values = Values(tree, configuration)
        self._modules, self._functions = _imported(tree)
        self._outputs: list[Output] = []
        self._flows: list[Flow] = []
        self._reads: list[Read] = []

    def graph(self) -> Graph:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    self._decorated(node, decorator)
            elif isinstance(node, ast.Call):
                self._called(node)
        return Graph(tuple(self._outputs), tuple(self._flows), tuple(self._reads))

    def _decorated(self, function: ast.FunctionDef, decorator: ast.expr) -> None:
        call = decorator if isinstance(decorator, ast.Call) else None
        kind = self._function(decorator if call is None else call.func)
        arguments = {} if call is None else self._arguments(call)
        name = arguments.get("name", function.name)
        if kind is None or not isinstance(name, str):
            return
        if kind == "append_flow":
            self._flow(name, arguments.get("target", UNKNOWN), decorator)
        elif kind in _KINDS:
            self._output(name, _KINDS[kind], arguments.get("format"), decorator)
            if _KINDS[kind] != "view":
                self._flow(name, name, decorator)

    def _called(self, call: ast.Call) -> None:
        kind = self._function(call.func)
        if kind == "create_streaming_table":
            given = self._arguments(call, "name")
            self._output(given.get("name", UNKNOWN), "table", given.get("format"), call)
        elif kind == "create_sink":
            given = self._arguments(call, "name", "format", "options")
            options = given.get("options", {})
            self._output(given.get("name", UNKNOWN), "sink", given.get("format"), call, options)
        elif kind == _CDC:
            given = self._arguments(call, "target", "source")
            target = given.get("target", UNKNOWN)
            self._flow(given.get("name", target), target, call)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "load":
            self._load(call)

    def _load(self, load: ast.Call) -> None:
        """`spark.readStream.format(…).option(…).options(…).load()`, read from its end."""
        format_: object = UNKNOWN
        options: dict[str, str | None] = {}
        is_complete = True
        node: ast.expr = load.func.value if isinstance(load.func, ast.Attribute) else load
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method, values = node.func.attr, [self._values.of(each) for each in node.args]
            if method == "format" and values:
                format_ = values[0]
            elif method == "option" and isinstance(values[0] if values else UNKNOWN, str):
                value = values[1] if len(values) > 1 else UNKNOWN
                options.setdefault(str(values[0]), _option_text(value))
            elif method == "options":
                given, is_whole = self._values.keywords(node)
                is_complete &= is_whole
                for name, value in given.items():
                    options.setdefault(name, _option_text(value))
            elif method != "schema":
                is_complete = False
            node = node.func.value
        if not isinstance(node, ast.Attribute) or node.attr not in ("read", "readStream"):
            return
        if isinstance(format_, str):
            is_streaming = node.attr == "readStream"
            place = self._place(load)
            self._reads.append(Read(format_, options, is_streaming, is_complete, place))

    def _output(
        self, name: object, kind: Kind, format_: object, node: ast.expr, options: object = None
    ) -> None:
        if not isinstance(name, str) or format_ is UNKNOWN:
            return
        is_complete = isinstance(options, dict) and UNKNOWN not in options
        known = (
            {str(key): _option_text(value) for key, value in options.items() if key is not UNKNOWN}
            if isinstance(options, dict)
            else {}
        )
        text = None if format_ is None else str(format_).lower()
        self._outputs.append(Output(name, kind, text, known, is_complete, self._place(node)))

    def _flow(self, name: object, target: object, node: ast.expr) -> None:
        if isinstance(name, str) and isinstance(target, str):
            self._flows.append(Flow(name, target, self._place(node)))

    def _arguments(self, call: ast.Call, *positions: str) -> dict[str, object]:
        given = {name: self._values.of(each) for name, each in zip(positions, call.args)}  # noqa: B905 - as many as there are
        return given | {
            each.arg: self._values.of(each.value) for each in call.keywords if each.arg is not None
        }

    def _function(self, node: ast.expr) -> str | None:
        """Which function of Spark's pipelines is meant, if one is."""
        match node:
            case ast.Name(id=name):
                return self._functions.get(name)
            case ast.Attribute(value=value, attr=name) if name in {*_FUNCTIONS, _CDC}:
                return name if ast.unparse(value) in self._modules else None
        return None

    def _place(self, node: ast.expr) -> str:
        return f"{self._file}:{node.lineno}"


def _imported(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    """The names under which the file knows Spark's pipelines, and single functions of it."""
    modules: set[str] = set()
    functions: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {each.asname or each.name for each in node.names if each.name == _MODULE}
        elif isinstance(node, ast.ImportFrom) and node.module == "pyspark":
            modules |= {each.asname or each.name for each in node.names if each.name == "pipelines"}
        elif isinstance(node, ast.ImportFrom) and node.module == _MODULE:
            functions |= {each.asname or each.name: each.name for each in node.names}
    return modules, functions


def _option_text(value: object) -> str | None:
    """An option as Spark hands it on."""
    if value is UNKNOWN or value is None or isinstance(value, dict):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
