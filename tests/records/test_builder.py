"""Built batches: every header field, and what cannot be built."""

import pytest

from riverlog.records.batch import check_batch, check_produced
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.errors import InvalidRecord
from riverlog.records.record import Record
from tests.records.samples import CODECS, RECORDS


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_built_may_be_produced(codec: Codec) -> None:
    header = check_produced(build_batch(RECORDS, codec=codec))

    assert header.codec is codec
    assert (header.base_offset, header.leader_epoch) == (0, -1)
    assert (header.record_count, header.last_offset_delta) == (6, 5)
    assert header.base_timestamp_ms == 1_700_000_000_000
    assert header.max_timestamp_ms == 1_700_000_900_000
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert header.attributes == codec


def test_every_field_is_the_callers() -> None:
    header = check_batch(
        build_batch(
            [Record(12, 5, None, None), Record(17, 3, None, None)],
            base_offset=10,
            codec=Codec.ZSTD,
            producer_id=2**62,
            producer_epoch=2**15 - 1,
            base_sequence=2**31 - 1,
            leader_epoch=77,
            is_transactional=True,
            is_control=True,
            append_time_ms=99,
        )
    )

    assert (header.base_offset, header.last_offset, header.record_count) == (10, 17, 2)
    assert header.leader_epoch == 77
    assert header.producer_id == 2**62
    assert header.producer_epoch == 2**15 - 1
    assert header.base_sequence == 2**31 - 1
    assert header.is_transactional
    assert header.is_control
    assert header.uses_append_time
    assert (header.base_timestamp_ms, header.max_timestamp_ms) == (5, 99)


def test_an_iterator_of_records_is_enough() -> None:
    assert build_batch(iter(RECORDS)) == build_batch(RECORDS)


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([], id="none"),
        pytest.param([Record(9, 0, None, None)], id="offset before the base"),
        pytest.param([Record(10, 0, None, None)] * 2, id="one offset twice"),
        pytest.param([RECORDS[0]._replace(offset=10 + 2**31)], id="offset too far"),
        pytest.param([Record(10, 2**63, None, None)], id="time past 64 bits"),
        pytest.param(
            [Record(10, -(2**63), None, None), Record(11, -(2**63) - 1, None, None)],
            id="second time past 64 bits",
        ),
        pytest.param(
            [Record(10, -(2**63), None, None), Record(11, 1, None, None)], id="delta past 64 bits"
        ),
        pytest.param([Record(10, 0, None, None, (("\ud800", b""),))], id="header not UTF-8"),
    ],
)
def test_records_that_do_not_fit_are_refused(records: list[Record]) -> None:
    with pytest.raises(InvalidRecord):
        build_batch(records, base_offset=10)


def test_fields_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidRecord):
        build_batch(RECORDS, producer_epoch=2**15)
    with pytest.raises(InvalidRecord):
        build_batch([Record(2**63, 0, None, None)], base_offset=2**63 - 1)
