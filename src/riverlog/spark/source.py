"""What Spark makes of `format("riverlog")`."""

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from riverlog.spark.arriving import carried
from riverlog.spark.batch_reader import BatchReader
from riverlog.spark.columns import check_written, chosen_columns, source_schema
from riverlog.spark.errors import InvalidOption
from riverlog.spark.options import (
    SinkOptions,
    check_either_way,
    includes_headers,
    sink_options,
    source_options,
)
from riverlog.spark.refused_stream import RefusedStream
from riverlog.spark.sink import BatchWriter, StreamWriter
from riverlog.spark.stream_reader import StreamReader
from riverlog.spark.telling import in_a_sentence


class RiverlogSource(DataSource):  # type: ignore[misc] # pyspark has no types for mypy here
    """Topics of any broker that speaks the Kafka protocol, read and written without JARs."""

    __reduce__ = carried

    @classmethod
    def name(cls) -> str:
        """What stands in `format(…)`."""
        return "riverlog"

    @in_a_sentence
    def schema(self) -> StructType:
        """The columns of Spark's own Kafka source; wrong options are told here, by `load()`."""
        check_either_way(self.options)
        return source_schema(includes_headers(self.options))

    @in_a_sentence
    def reader(self, schema: StructType) -> BatchReader:
        """For `spark.read`; a schema of the user's own chooses columns."""
        options = source_options(self.options, is_streaming=False)
        return BatchReader(options, chosen_columns(schema))

    def streamReader(self, schema: StructType) -> StreamReader | RefusedStream:  # noqa: N802 - Spark's name
        """For `spark.readStream`; a schema of the user's own chooses columns."""
        try:
            options = source_options(self.options, is_streaming=True)
            return StreamReader(options, chosen_columns(schema))
        except InvalidOption as error:
            return RefusedStream(str(error))

    @in_a_sentence
    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        """For `df.write`."""
        return BatchWriter(self._sink(schema, overwrite))

    @in_a_sentence
    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:  # noqa: N802 - Spark's name
        """For `df.writeStream`."""
        return StreamWriter(self._sink(schema, overwrite))

    def _sink(self, schema: StructType, overwrite: bool) -> SinkOptions:
        options = sink_options(self.options)
        check_written(schema, options.topic)
        if overwrite:
            raise InvalidOption("a topic can only be appended to: use mode append")
        return options
