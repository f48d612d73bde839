"""The graph as Spark's runner tells it to Spark: commands of Spark Connect, made by hand."""

from pathlib import Path

import pytest

from riverlog.pipelines.graph import Flow, Output, Read
from riverlog.pipelines.recording import Recording
from riverlog.pipelines.spec import Spec

pytestmark = pytest.mark.client("spark")

SPEC = Spec(Path("/p/spark-pipeline.yml"), "p", "file:///s", "spark_catalog", "default", {}, ())


def test_outputs_flows_and_sources_are_recorded() -> None:
    import pyspark.sql.connect.proto as pb2

    recording = Recording(SPEC)
    sink, flow, sql, other = (pb2.Command() for _ in range(4))
    defined = sink.pipeline_command.define_output
    defined.output_name, defined.output_type = "out", pb2.OutputType.SINK
    defined.sink_details.format = "riverlog"
    defined.sink_details.options["topic"] = "t"
    defined.source_code_location.file_name = "/p/transformations/a.py"
    defined.source_code_location.line_number = 3
    into = flow.pipeline_command.define_flow
    into.flow_name, into.target_dataset_name = "into_out", "out"
    into.source_code_location.file_name = "/p/transformations/a.py"
    into.source_code_location.line_number = 5
    read = into.relation_flow_details.relation.join.left.filter.input.read
    read.is_streaming = True
    read.data_source.format = "riverlog"
    read.data_source.options["subscribe"] = "orders"
    into.relation_flow_details.relation.join.right.read.named_table.unparsed_identifier = "orders"
    sql.pipeline_command.define_sql_graph_elements.sql_text = "CREATE STREAMING TABLE s"
    sql.pipeline_command.define_sql_graph_elements.sql_file_path = "transformations/b.sql"
    other.sql_command.sql = "SELECT 1"

    for command in (sink, flow, sql, other):
        recording.note(command)

    at = "transformations/a.py"
    assert recording.graph.outputs == (
        Output("out", "sink", "riverlog", {"topic": "t"}, True, f"{at}:3"),
        Output("s", "table", None, {}, False, "transformations/b.sql:1"),
    )
    assert recording.graph.flows == (Flow("into_out", "out", f"{at}:5"),)
    assert recording.graph.reads == (
        Read("riverlog", {"subscribe": "orders"}, True, True, f"{at}:5"),
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("TABLE", "table"),
        ("MATERIALIZED_VIEW", "materialized view"),
        ("TEMPORARY_VIEW", "view"),
    ],
)
def test_every_kind_of_output_is_known(name: str, kind: str) -> None:
    import pyspark.sql.connect.proto as pb2

    recording = Recording(SPEC)
    command = pb2.Command()
    command.pipeline_command.define_output.output_name = "o"
    command.pipeline_command.define_output.output_type = pb2.OutputType.Value(name)

    recording.note(command)

    assert [output.kind for output in recording.graph.outputs] == [kind]
