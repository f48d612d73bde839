"""What a task does: reads its slice from the broker, into Arrow, in a worker of Spark."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from riverlog.client.errors import OffsetOutOfRange
from riverlog.client.offsets import EARLIEST
from riverlog.spark.errors import DataLoss
from riverlog.spark.options import SourceOptions
from riverlog.spark.planning import Slice
from riverlog.tables.brokers import Brokers
from riverlog.tables.ranges import Range, read_ranges

GOES_ON = "failOnDataLoss=false goes on without them"


class SliceToRead(InputPartition):  # type: ignore[misc] # pyspark has no types for mypy here
    """A slice on its way to the worker that reads it."""

    def __init__(self, piece: Slice) -> None:
        super().__init__(piece)


def read_slice(
    options: SourceOptions, columns: tuple[str, ...], task: InputPartition
) -> Iterator[pa.RecordBatch]:
    """The rows of a slice, the same ones every time; raises `DataLoss` where some are gone."""
    piece = task.value
    # Spark makes one task without a slice when there is nothing to read.
    if piece is None:
        return
    with Brokers(options.bootstrap, options.settings) as brokers:
        while piece.size:
            wanted = {piece.partition: Range(piece.start, piece.end)}
            try:
                for rows in read_ranges(brokers, piece.topic, wanted, columns):
                    yield rows.batch
                return
            except OffsetOutOfRange as error:
                if options.fails_on_data_loss:
                    raise DataLoss(f"records are gone: {error}; {GOES_ON}") from None
            begins = brokers.list_offsets(piece.topic, {piece.partition: EARLIEST})
            if begins[piece.partition] <= piece.start:
                # Nothing was deleted: the log is another one, and ends before this slice.
                return
            piece = piece._replace(start=begins[piece.partition])
