"""The rows of a Parquet file, a few thousand in memory at a time."""

import os
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from riverlog.jobs.errors import JobFailed, JobRefused
from riverlog.jobs.row_files import BadRow, Row

_ROWS_AT_ONCE = 4096


class Groups(NamedTuple):
    """Row groups of a file, from the first and before `end`."""

    first: int
    end: int


class ParquetRows:
    """Every row has all columns. Times are as exact as Python has them: to the microsecond."""

    def __init__(self, path: str, groups: Groups | None = None) -> None:
        self._path = path
        try:
            self._file = pq.ParquetFile(path)
        except pa.ArrowInvalid as error:
            reason = str(error).splitlines()[0]
            raise JobRefused(f"{path} is no Parquet file: {reason}") from None
        self.columns = tuple[str, ...](self._file.schema_arrow.names)
        self.group_rows = [
            self._file.metadata.row_group(group).num_rows
            for group in range(self._file.metadata.num_row_groups)
        ]
        self._groups = groups or Groups(0, len(self.group_rows))
        self._size_bytes = os.path.getsize(path)
        self.read_bytes = 0

    def rows(self) -> Iterator[Row | BadRow]:
        first, end = self._groups
        number = sum(self.group_rows[:first])
        row_count = max(self._file.metadata.num_rows, 1)
        try:
            for batch in self._file.iter_batches(_ROWS_AT_ONCE, list(range(first, end))):
                for values in _in_microseconds(batch).to_pylist():
                    number += 1
                    yield Row(number, values)
                self.read_bytes = self._size_bytes * number // row_count
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise JobFailed(f"{self._path} cannot be read behind row {number}: {reason}") from None

    def close(self) -> None:
        self._file.close()


def _in_microseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Python's times end there, and only another library would give finer ones."""
    for place, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            finer = pa.timestamp("us", field.type.tz)
            column = batch.column(place).cast(finer, safe=False)
            batch = batch.set_column(place, field.name, column)
    return batch
