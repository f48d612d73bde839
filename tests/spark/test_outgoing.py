"""Rows as records: where each goes, and what it carries."""

import pyarrow as pa
import pytest

from riverlog import NewRecord
from riverlog.kernel.wanted import HEADERS_TYPE
from riverlog.spark.errors import InvalidOption
from riverlog.spark.outgoing import records_by_topic


def test_rows_go_to_the_topics_they_name_in_their_order() -> None:
    rows = pa.RecordBatch.from_pydict({"topic": ["a", "b", "a"], "value": [b"1", b"2", b"3"]})

    found = records_by_topic(None, rows)

    assert found == {"a": [NewRecord(b"1"), NewRecord(b"3")], "b": [NewRecord(b"2")]}


def test_a_topic_that_is_given_beats_what_rows_name() -> None:
    rows = pa.RecordBatch.from_pydict({"topic": ["a", None], "value": ["1", "2"]})

    assert records_by_topic("c", rows) == {"c": [NewRecord("1"), NewRecord("2")]}
    with pytest.raises(InvalidOption, match="a row has no topic"):
        records_by_topic(None, rows)


def test_keys_headers_and_partitions_are_carried() -> None:
    rows = pa.RecordBatch.from_arrays(
        [
            pa.array([b"v", None]),
            pa.array(["k", None]),
            pa.array([None, 3], pa.int32()),
            pa.array(
                [[{"key": "h", "value": b"x"}, {"key": "h", "value": None}], None], HEADERS_TYPE
            ),
        ],
        names=["value", "key", "partition", "headers"],
    )

    assert records_by_topic("t", rows)["t"] == [
        NewRecord(b"v", "k", [("h", b"x"), ("h", None)], None, None),
        NewRecord(None, None, None, None, 3),
    ]
