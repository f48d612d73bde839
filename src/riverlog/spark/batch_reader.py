"""`spark.read.format("riverlog")`: what there is now, or a range of it."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from riverlog.spark import lookup
from riverlog.spark.arriving import carried
from riverlog.spark.errors import DataLoss
from riverlog.spark.options import SourceOptions
from riverlog.spark.planning import cut, kept, slices_between
from riverlog.spark.rows import GOES_ON, SliceToRead, read_slice
from riverlog.spark.telling import each_in_a_sentence, in_a_sentence
from riverlog.tables.brokers import Brokers


class BatchReader(DataSourceReader):  # type: ignore[misc] # pyspark has no types for mypy here
    """Plans in the driver, reads in the workers; Spark sends copies of it there."""

    __reduce__ = carried

    def __init__(self, options: SourceOptions, columns: tuple[str, ...]) -> None:
        self._options = options
        self._columns = columns

    @in_a_sentence
    def partitions(self) -> list[InputPartition]:
        """The slices for tasks, with the end as it is now."""
        options = self._options
        with Brokers(options.bootstrap, options.settings) as brokers:
            ends = lookup.latest(brokers, options.chosen)
            start = lookup.starts(
                brokers, options.start, ends, beyond_is_latest=options.beyond_is_latest
            )
            end = lookup.stops(brokers, options.end, ends)
            found = kept(slices_between(start, end), lookup.begins(brokers, ends), ends)
        if found.losses and options.fails_on_data_loss:
            raise DataLoss(f"records are gone: {found.losses[0]}; {GOES_ON}")
        slices = cut(found.slices, options.min_partitions, options.records_per_partition_max)
        return [SliceToRead(piece) for piece in slices]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one slice."""
        return each_in_a_sentence(read_slice(self._options, self._columns, partition))
