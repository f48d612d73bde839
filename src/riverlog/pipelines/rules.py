"""What is known to lose rows, or to fail once Spark has long been started: found beforehand."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from riverlog.pipelines.errors import PipelineRefused
from riverlog.pipelines.graph import RIVERLOG, Graph, Output, Problem
from riverlog.pipelines.spec import Spec
from riverlog.spark.errors import InvalidOption
from riverlog.spark.options import sink_options, source_options

CATALOG = "spark.sql.catalogImplementation"
WAREHOUSE = "spark.sql.warehouse.dir"
STARTS_WITH = "leave it out, and give it with --conf"
DEFAULT_FORMAT = "spark.sql.sources.default"

# Spark keeps one list of the files in such a table, by the number of the micro-batch. Every flow
# counts from nought: of two with the same number, one is taken for a repetition and left out.
_FILE_FORMATS = frozenset({"avro", "csv", "json", "orc", "parquet", "text", "xml"})

_STATIC = frozenset({CATALOG, WAREHOUSE, "spark.master", "spark.plugins", "spark.sql.extensions"})
_STATIC_PREFIXES = (
    "spark.driver.",
    "spark.executor.",
    "spark.jars",
    "spark.memory.",
    "spark.pyspark.",
    "spark.python.",
    "spark.sql.hive.metastore.",
)

# They stand for what is not known yet.
_PLACEHOLDERS = {"kafka.bootstrap.servers": "unknown:9092"}


def problems_of(spec: Spec, graph: Graph) -> list[Problem]:
    """Every problem there is, each once, in the order of the definitions."""
    found = [
        *_settings(spec),
        *_crowded(spec, graph),
        *_outputs(graph),
        *_reads(graph),
    ]
    return list(dict.fromkeys(found))


def full_name(spec: Spec, name: str) -> str:
    """A table by all of its names, as Spark compares them."""
    parts = name.split(".")
    missing = [spec.catalog, spec.database][: max(0, 3 - len(parts))]
    return ".".join([*missing, *parts]).lower()


def _settings(spec: Spec) -> Iterator[Problem]:
    """What a spec may not set: it is set once more for every flow, and Spark refuses that then."""
    for name in spec.configuration:
        if name in _STATIC or name.startswith(_STATIC_PREFIXES):
            yield Problem(
                spec.path.name,
                f"{name} counts only when Spark starts, and every flow would fail because of it;"
                f" {STARTS_WITH}",
            )


def check_conf(conf: Mapping[str, str]) -> None:
    """Raises `PipelineRefused` for settings with which a second run would fail."""
    if conf.get(CATALOG, "hive").lower() != "hive":
        raise PipelineRefused(
            f"{CATALOG}={conf[CATALOG]} forgets its tables, and the next run fails with"
            " LOCATION_ALREADY_EXISTS; without it, a catalog is kept within the project"
        )


def _crowded(spec: Spec, graph: Graph) -> Iterator[Problem]:
    """Outputs of plain files that more than one flow writes into."""
    default = spec.configuration.get(DEFAULT_FORMAT, "parquet")
    outputs = {_key(spec, each): each for each in graph.outputs}
    places: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for flow in graph.flows:
        name = flow.target.lower()
        is_stored = name not in outputs or outputs[name].kind != "sink"
        places[full_name(spec, name) if is_stored else name][flow.name] = flow.place
    for key, writers in places.items():
        output = outputs.get(key)
        if output is None or len(writers) < 2:
            continue
        format_ = (output.format or default).lower()
        if format_ in _FILE_FORMATS:
            *_, last = writers.values()
            yield Problem(
                last,
                f"{len(writers)} flows write into {output.name} ({', '.join(writers.values())}):"
                f" a {output.kind} of plain {format_} files loses rows of all but one, while the"
                " run says COMPLETED; make it one flow with a union, or one table for each",
            )


def _outputs(graph: Graph) -> Iterator[Problem]:
    for output in graph.outputs:
        if (output.format or "").lower() != RIVERLOG:
            continue
        if output.kind != "sink":
            dropped = "its OPTIONS never reach" if output.options else "no options reach"
            yield Problem(
                output.place,
                f"{output.name} cannot be a {output.kind} in a topic: {dropped} a Python source;"
                " write to the topic with dp.create_sink and dp.append_flow",
            )
            continue
        options = _known(output.options)
        if not output.is_complete or _is_unknown(output.options, "kafka.bootstrap.servers"):
            options = _PLACEHOLDERS | options
        try:
            sink_options(options)
        except InvalidOption as error:
            yield Problem(output.place, f"sink {output.name}: {error}")


def _reads(graph: Graph) -> Iterator[Problem]:
    for read in graph.reads:
        if read.format.lower() != RIVERLOG:
            continue
        options = _known(read.options)
        if not read.is_complete or _is_unknown(read.options, "kafka.bootstrap.servers"):
            options = _PLACEHOLDERS | options
        chosen = {"subscribe", "subscribepattern", "assign"}
        is_chosen = any(name.lower() in chosen for name in options)
        if not is_chosen and (not read.is_complete or _is_unknown(read.options, *chosen)):
            options["subscribe"] = "unknown"
        try:
            source_options(options, is_streaming=read.is_streaming)
        except InvalidOption as error:
            yield Problem(read.place, str(error))


def _key(spec: Spec, output: Output) -> str:
    # Sinks and views live in no catalog.
    is_stored = output.kind in ("table", "materialized view")
    return full_name(spec, output.name) if is_stored else output.name.lower()


def _known(options: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}


def _is_unknown(options: Mapping[str, str | None], *names: str) -> bool:
    """Whether one of these is given with a value that is not known."""
    return any(name.lower() in names and value is None for name, value in options.items())
