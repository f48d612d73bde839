"""Which rows of an import are in a topic already: its own records tell."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from riverlog.client.errors import UnknownTopic
from riverlog.jobs.import_marks import HEADER, RowSet, row_of
from riverlog.tables.brokers import Brokers
from riverlog.tables.ranges import Range, read_ranges


class Marked(NamedTuple):
    """Rows by their file, and how many records are marked: more, if one is there twice."""

    rows: dict[str, RowSet]
    record_count: int


def published_rows(brokers: Brokers, topic: str, import_id: str) -> dict[str, RowSet]:
    """The rows of an import that are in a topic, by file; reads all of the topic's headers."""
    return marked_rows(brokers, topic, whole_topic(brokers, topic), import_id).rows


def whole_topic(brokers: Brokers, topic: str) -> dict[int, Range]:
    """All that is in the partitions now; nothing, if there is no such topic."""
    try:
        starts = brokers.find(topic, "earliest", None)
        ends = brokers.find(topic, "latest", None)
    except UnknownTopic:
        return {}
    return {partition: Range(start, ends[partition]) for partition, start in starts.items()}


def marked_rows(
    brokers: Brokers, topic: str, ranges: Mapping[int, Range], import_id: str
) -> Marked:
    """The rows of an import that are in these ranges."""
    found: dict[str, RowSet] = {}
    record_count = 0
    for rows in read_ranges(brokers, topic, ranges, ("headers",)):
        for text in _marks(rows.batch.column("headers")):
            row = row_of(text, import_id)
            if row is not None:
                found.setdefault(row[0], RowSet()).add(row[1])
                record_count += 1
    return Marked(found, record_count)


def _marks(headers: pa.ListArray) -> Iterator[bytes]:
    pairs = headers.flatten()
    keys, values = pairs.field("key"), pairs.field("value")
    for text in values.filter(pc.equal(keys, HEADER)).to_pylist():
        if text is not None:
            yield text
