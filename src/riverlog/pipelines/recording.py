"""What Spark's own runner tells Spark of a pipeline: the graph as it is, nothing guessed.

The commands are protocol buffers of Spark Connect, whose fields outlive its Python classes.
"""

import os
from collections.abc import Iterator
from typing import Any

from riverlog.pipelines.graph import Flow, Graph, Kind, Output, Read, joined
from riverlog.pipelines.spec import Spec
from riverlog.pipelines.sql_text import read_sql

_KINDS: dict[str, Kind] = {
    "MATERIALIZED_VIEW": "materialized view",
    "TABLE": "table",
    "TEMPORARY_VIEW": "view",
    "SINK": "sink",
}


class Recording:
    """Listens to the commands of one pipeline."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._graphs: list[Graph] = []

    @property
    def graph(self) -> Graph:
        """What has been defined so far."""
        return joined(self._graphs)

    # Protocol buffers have no types of their own here.
    def note(self, command: Any) -> None:
        """Takes a command on its way to Spark; those that define nothing are passed over."""
        match command.WhichOneof("command_type"):
            case "pipeline_command":
                self._note(command.pipeline_command)

    def _note(self, command: Any) -> None:
        match command.WhichOneof("command_type"):
            case "define_output":
                self._graphs.append(Graph(outputs=(self._output(command.define_output),)))
            case "define_flow":
                self._graphs.append(self._flow(command.define_flow))
            case "define_sql_graph_elements":
                sql = command.define_sql_graph_elements
                self._graphs.append(read_sql(sql.sql_text, self._relative(sql.sql_file_path)))

    def _output(self, defined: Any) -> Output:
        number = defined.DESCRIPTOR.fields_by_name["output_type"].enum_type
        kind = _KINDS.get(number.values_by_number[defined.output_type].name, "table")
        details = defined.sink_details if kind == "sink" else defined.table_details
        options = dict(details.options) if kind == "sink" else {}
        format_ = details.format.lower() or None
        return Output(defined.output_name, kind, format_, options, True, self._place(defined))

    def _flow(self, defined: Any) -> Graph:
        place = self._place(defined)
        return Graph(
            flows=(Flow(defined.flow_name, defined.target_dataset_name, place),),
            reads=tuple(_reads(defined, place)),
        )

    def _place(self, defined: Any) -> str:
        where = defined.source_code_location
        return f"{self._relative(where.file_name)}:{where.line_number}"

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._spec.directory) if os.path.isabs(path) else path


def _reads(message: Any, place: str) -> Iterator[Read]:
    """Every source in a plan, however deep."""
    if message.DESCRIPTOR.name == "Read" and message.WhichOneof("read_type") == "data_source":
        source = message.data_source
        yield Read(source.format, dict(source.options), message.is_streaming, True, place)
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for below in [value] if hasattr(value, "DESCRIPTOR") else value:
            yield from _reads(below, place)
