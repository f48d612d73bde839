"""Which rows of an import are in a topic already: its own records tell."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from riverlog.client.errors import UnknownTopic
from riverlog.jobs.import_marks import HEADER, RowSet
from riverlog.tables.brokers import Brokers
from riverlog.tables.ranges import Range, read_ranges


def published_rows(brokers: Brokers, topic: str, import_id: str) -> dict[str, RowSet]:
    """The rows of an import that are in a topic, by file; reads all of the topic's headers."""
    found: dict[str, RowSet] = {}
    try:
        starts = brokers.find(topic, "earliest", None)
        ends = brokers.find(topic, "latest", None)
    except UnknownTopic:
        return found
    ranges = {partition: Range(start, ends[partition]) for partition, start in starts.items()}
    prefix = f"{import_id}/".encode()
    for rows in read_ranges(brokers, topic, ranges, ("headers",)):
        for text in _marks(rows.batch.column("headers"), prefix):
            file_name, _, digits = (
                text.removeprefix(prefix).decode(errors="replace").rpartition(":")
            )
            if digits.isascii() and digits.isdigit() and len(digits) < 16:
                found.setdefault(file_name, RowSet()).add(int(digits))
    return found


def _marks(headers: pa.ListArray, prefix: bytes) -> Iterator[bytes]:
    pairs = headers.flatten()
    keys, values = pairs.field("key"), pairs.field("value")
    ours = values.filter(pc.equal(keys, HEADER))
    for text in ours.to_pylist():
        if text is not None and text.startswith(prefix):
            yield text
