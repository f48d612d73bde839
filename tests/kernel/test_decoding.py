"""Record batches to Arrow: the kernel and its fallback give the same rows, or the same refusal."""

import ctypes
from collections.abc import Sequence
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.kernel import fallback, native
from riverlog.kernel.decoding import DECOMPRESSED_BYTES_MAX, Decoded, UnreadableBatch, decode
from riverlog.kernel.library import library
from riverlog.kernel.wanted import COLUMNS, UnknownColumn, Wanted
from riverlog.records.batch import HEADER_SIZE, stamp_append_time
from riverlog.records.builder import build_batch, build_gap
from riverlog.records.compression import Codec
from riverlog.records.crc import crc32c
from riverlog.records.record import Record
from tests.tools import require

NOW_MS = 1_767_225_600_000
WANTED = Wanted("orders", 3)

optional_bytes = st.none() | st.binary(max_size=300)
headers = st.lists(st.tuples(st.text(max_size=5), optional_bytes), max_size=3).map(tuple)
records = st.lists(
    st.builds(
        Record,
        offset=st.just(0),
        timestamp_ms=st.integers(-1, NOW_MS),
        key=optional_bytes,
        value=optional_bytes,
        headers=headers,
    ),
    min_size=1,
    max_size=8,
)
batches = st.lists(st.tuples(records, st.sampled_from(Codec), st.booleans()), max_size=5)


def built(described: Sequence[tuple[list[Record], Codec, bool]]) -> bytes:
    """Batches one after the other, with rising offsets; True stamps the time of appending."""
    data = b""
    offset = 0
    for found, codec, is_stamped in described:
        numbered = [record._replace(offset=number) for number, record in enumerate(found)]
        batch = bytearray(build_batch(numbered, codec=codec))
        batch[0:8] = offset.to_bytes(8)
        if is_stamped:
            stamp_append_time(batch, 0, NOW_MS)
        data += batch
        offset += len(found)
    return data


def both(data: bytes, wanted: Wanted, checks_crcs: bool = True) -> list[Decoded | None]:
    """What the kernel and the fallback give; None for a refusal."""
    found: list[Decoded | None] = []
    for way in (native, fallback):
        try:
            found.append(way.decode(data, wanted, checks_crcs, DECOMPRESSED_BYTES_MAX))
        except UnreadableBatch:
            found.append(None)
    return found


def table(decoded: Decoded, wanted: Wanted) -> pa.Table:
    made = pa.Table.from_batches(decoded.rows, wanted.schema)
    made.validate(full=True)
    return made


def assert_same(data: bytes, wanted: Wanted, checks_crcs: bool = True) -> None:
    ours, theirs = both(data, wanted, checks_crcs)
    assert (ours is None) == (theirs is None)
    if ours is not None and theirs is not None:
        assert ours.consumed_bytes == theirs.consumed_bytes
        assert table(ours, wanted).equals(table(theirs, wanted))


@pytest.fixture(autouse=True, scope="module")
def _kernel() -> None:
    """Where there is no C compiler there is nothing to compare the fallback with."""
    require("cc")
    assert library() is not None, "the kernel was not built: install the package again"


@given(batches)
def test_what_was_written_comes_out(described: list[tuple[list[Record], Codec, bool]]) -> None:
    decoded = decode(built(described), WANTED)

    rows = table(decoded, WANTED).to_pylist()
    written = [(record, stamped) for found, _, stamped in described for record in found]
    assert [row["offset"] for row in rows] == list(range(len(written)))
    for row, (record, is_stamped) in zip(rows, written, strict=True):
        assert (row["key"], row["value"]) == (record.key, record.value)
        pairs = [(pair["key"], pair["value"]) for pair in row["headers"] or []]
        assert tuple(pairs) == record.headers
        assert (row["headers"] is None) == (not record.headers)
        expected_ms = NOW_MS if is_stamped else record.timestamp_ms
        assert round(row["timestamp"].timestamp() * 1000) == expected_ms
        assert (row["timestampType"], row["topic"], row["partition"]) == (is_stamped, "orders", 3)


@given(
    batches,
    st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_only_the_wanted_rows_and_columns_come(
    described: list[tuple[list[Record], Codec, bool]], columns: list[str], start: int, end: int
) -> None:
    wanted = WANTED._replace(columns=tuple(columns), start_offset=start, end_offset=end)

    assert_same(built(described), wanted)

    decoded = decode(built(described), wanted)
    count = sum(len(found) for found, *_ in described)
    assert table(decoded, wanted).num_rows == len(range(start, min(end, count)))


def test_a_batch_whose_records_were_all_compacted_away_is_passed_over() -> None:
    before, after = (build_batch([Record(n, NOW_MS, b"k", b"v")], base_offset=n) for n in (0, 9))
    data = before + build_gap(1, 9, 0) + after

    for decoded in both(data, WANTED):
        assert decoded is not None
        assert decoded.consumed_bytes == len(data)
        assert table(decoded, WANTED)["offset"].to_pylist() == [0, 9]


@given(batches, st.data())
def test_damaged_batches_give_the_same_rows_or_the_same_refusal(
    described: list[tuple[list[Record], Codec, bool]], data: st.DataObject
) -> None:
    damaged = bytearray(built(described))
    for _ in range(data.draw(st.integers(0, 3)) if damaged else 0):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))

    assert_same(bytes(damaged[:cut]), WANTED, checks_crcs=data.draw(st.booleans()))


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_body_never_reaches_beyond_its_batch(seed: int) -> None:
    chance = Random(seed)
    found = [Record(n, NOW_MS, b"k%d" % n, b"v" * 20, (("h", b"x"),)) for n in range(6)]
    batch = build_batch(found)
    for _ in range(400):
        damaged = bytearray(batch)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(HEADER_SIZE, len(damaged))] = chance.randrange(256)
        assert_same(bytes(damaged), WANTED, checks_crcs=False)


def test_a_changed_byte_is_noticed() -> None:
    batch = bytearray(build_batch([Record(0, NOW_MS, None, b"value")]))
    batch[-2] ^= 1

    with pytest.raises(UnreadableBatch, match="offset 0"):
        decode(bytes(batch), WANTED)


def test_a_batch_that_is_cut_is_left_for_later() -> None:
    batch = build_batch([Record(0, NOW_MS, None, b"value")])

    decoded = decode(batch + batch[:-1], WANTED)

    assert decoded.consumed_bytes == len(batch)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(UnknownColumn, match="no column 'colour'"):
        decode(b"", WANTED._replace(columns=("colour",)))


@given(st.binary(max_size=300))
def test_both_checksums_are_the_records_own(data: bytes) -> None:
    kernel = library()
    assert kernel is not None
    given_bytes = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)

    assert kernel.riverlog_crc32c(given_bytes, len(data)) == crc32c(data)
    assert kernel.riverlog_crc32c_portable(given_bytes, len(data)) == crc32c(data)
