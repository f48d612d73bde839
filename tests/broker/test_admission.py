"""Which batches are taken from producers, and which records are named where one is not."""

import pytest

from riverlog.broker import admission
from riverlog.broker.admission import admit
from riverlog.broker.errors import InvalidTimestamp, KeylessRecords
from riverlog.log.settings import LogSettings
from riverlog.records.batch import HEADER_SIZE, read_header, write_header
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec
from riverlog.records.errors import DecompressionTooLarge, InvalidRecord
from riverlog.records.record import Record

NOW_MS = 1_700_000_000_000
BOUNDS = LogSettings(timestamp_before_ms_max=1_000, timestamp_after_ms_max=1_000)


def batch_of(*keys: bytes | None, codec: Codec = Codec.NONE) -> bytes:
    records = [Record(number, NOW_MS, key, b"v" * 100) for number, key in enumerate(keys)]
    return build_batch(records, codec=codec)


def at(*times_ms: int) -> bytes:
    return build_batch([Record(number, time, b"k", b"v") for number, time in enumerate(times_ms)])


def with_body(batch: bytes, body: bytes) -> bytes:
    """The same header over other bytes, with a checksum that is right."""
    made = bytearray(HEADER_SIZE) + body
    write_header(made, read_header(batch))
    return bytes(made)


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("policy", ["compact", "compact,delete", "delete,compact"])
def test_compacted_topics_name_the_records_without_a_key(policy: str, codec: Codec) -> None:
    settings = LogSettings(cleanup_policy=policy)
    admit(batch_of(b"a", b"", b"b", codec=codec), settings, NOW_MS)

    with pytest.raises(KeylessRecords) as refused:
        admit(batch_of(b"a", None, b"b", None, codec=codec), settings, NOW_MS)

    assert [reason.position for reason in refused.value.reasons] == [1, 3]


def test_batches_of_other_topics_are_not_opened() -> None:
    lie = with_body(batch_of(None), b"no records at all")
    assert admit(lie, LogSettings(), NOW_MS).record_count == 1


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_what_cannot_be_read_is_no_record_of_a_compacted_topic(codec: Codec) -> None:
    lie = with_body(batch_of(b"a", codec=codec), b"no records at all")
    with pytest.raises(InvalidRecord):
        admit(lie, LogSettings(cleanup_policy="compact"), NOW_MS)


def test_a_batch_of_a_compacted_topic_does_not_inflate_without_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "OPENED_BYTES_MAX", 1_000)
    settings = LogSettings(cleanup_policy="compact")
    with pytest.raises(DecompressionTooLarge):
        admit(batch_of(*[b"k"] * 20, codec=Codec.ZSTD), settings, NOW_MS)


@pytest.mark.parametrize(
    ("times_ms", "untimely"),
    [
        ((-1_001, 0, -2_000), [0, 2]),
        ((0, 1_001), [1]),
        ((-1_001, 1_001, 1_000), [0, 1]),
    ],
)
def test_records_out_of_time_are_named(times_ms: tuple[int, ...], untimely: list[int]) -> None:
    with pytest.raises(InvalidTimestamp) as refused:
        admit(at(*(NOW_MS + time_ms for time_ms in times_ms)), BOUNDS, NOW_MS)
    assert [reason.position for reason in refused.value.reasons] == untimely


def test_a_batch_out_of_time_that_cannot_be_read_is_refused_without_names() -> None:
    lie = with_body(at(NOW_MS + 1_001), b"no records at all")
    with pytest.raises(InvalidTimestamp) as refused:
        admit(lie, BOUNDS, NOW_MS)
    assert refused.value.reasons == []


def test_only_so_many_records_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "REASONS_MAX", 2)
    with pytest.raises(InvalidTimestamp) as untimely:
        admit(at(*[NOW_MS + 1_001] * 5), BOUNDS, NOW_MS)
    with pytest.raises(KeylessRecords) as keyless:
        admit(batch_of(*[None] * 5), LogSettings(cleanup_policy="compact"), NOW_MS)
    assert [len(refused.value.reasons) for refused in (untimely, keyless)] == [2, 2]


def test_records_without_a_time_are_never_out_of_it() -> None:
    assert admit(at(-1), BOUNDS, NOW_MS).base_timestamp_ms == -1


def test_a_batch_that_was_given_an_offset_elsewhere_is_refused() -> None:
    with pytest.raises(InvalidRecord):
        admit(build_batch([Record(9, NOW_MS, b"k", b"v")], base_offset=9), LogSettings(), NOW_MS)
