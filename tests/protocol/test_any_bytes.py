"""Any bytes decode, or raise `WireError`, and nothing else."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.protocol.codec import codec, decode, encode
from riverlog.protocol.wire import PackedArray, WireError, uvarint
from tests.protocol.samples import Probe, Word, filled, tag_section
from tests.protocol.strategies import (
    PAIR_IDS,
    PAIRS,
    TABLES,
    structs_of,
    versions_of_table,
    with_unknown_tags,
)

every_pair = pytest.mark.parametrize(("cls", "version"), PAIRS, ids=PAIR_IDS)
LONG_COUNTS = [2**31 - 1, 2**31 - 2, 1 << 20, 100]


def walk(message: Any) -> None:
    """Reads everything that is still packed."""
    for part in structs_of(message):
        for field in part.FIELDS:
            value = getattr(part, field.name)
            if isinstance(value, Sequence):
                assert len(list(value)) == len(value)


def read_or_refuse(cls: Any, version: int, data: bytes) -> None:
    """What can be read can be walked and written; what is written reads as it was written."""
    try:
        message = decode(cls, version, data)
    except WireError:
        return
    walk(message)
    written = encode(message, version)
    assert encode(decode(cls, version, written), version) == written


@pytest.mark.parametrize("cls", [*TABLES, Probe], ids=lambda cls: cls.__name__)
@settings(max_examples=40, derandomize=True, deadline=None, database=None)
@given(data=st.binary(max_size=120))
def test_random_bytes_are_read_or_refused(cls: Any, data: bytes) -> None:
    for version in versions_of_table(cls):
        read_or_refuse(cls, version, data)


@every_pair
@settings(max_examples=4, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_damaged_messages_are_read_or_refused(cls: Any, version: int, data: st.DataObject) -> None:
    whole = encode(data.draw(with_unknown_tags(cls, version)), version)
    places = st.integers(0, len(whole))
    for start, end, patch in data.draw(
        st.lists(st.tuples(places, places, st.binary(max_size=6)), min_size=5, max_size=5)
    ):
        read_or_refuse(cls, version, whole[:start] + patch + whole[end:])


@every_pair
def test_every_damaged_byte_is_read_or_refused(cls: Any, version: int) -> None:
    whole = encode(filled(cls, version, elements=1), version)
    for place in range(len(whole)):
        for byte in (0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF):
            read_or_refuse(cls, version, whole[:place] + bytes([byte]) + whole[place + 1 :])


@every_pair
@pytest.mark.parametrize("elements", [1, 9])
def test_a_message_cut_short_is_refused_at_every_byte(
    cls: Any, version: int, elements: int
) -> None:
    whole = encode(filled(cls, version, elements), version)
    read = codec(cls, version)
    for end in range(min(len(whole), 400)):
        with pytest.raises(WireError):
            read.decode(whole[:end])


@every_pair
def test_bytes_after_a_message_are_ignored(cls: Any, version: int) -> None:
    message = filled(cls, version, elements=2)
    assert decode(cls, version, encode(message, version) + b"\xff\x00\x80") == message


# The probe begins with its array of bytes; what follows is what the array could have eaten.
@pytest.mark.parametrize("count", [*LONG_COUNTS, -2, -(2**31)])
def test_a_count_beyond_the_bytes_left_is_refused(count: int) -> None:
    with pytest.raises(WireError):
        decode(Probe, 0, count.to_bytes(4, "big", signed=True) + bytes(50))


@pytest.mark.parametrize("count", [*LONG_COUNTS, 2**32 - 2])
def test_a_compact_count_beyond_the_bytes_left_is_refused(count: int) -> None:
    with pytest.raises(WireError, match="an array is longer than its bytes"):
        decode(Probe, 1, uvarint(count + 1) + bytes(50))


def test_a_count_of_structs_is_weighed_by_their_least_size() -> None:
    start = encode(Probe(), 0)
    words_at = 11 * 4
    with pytest.raises(WireError, match="an array is longer than its bytes"):
        decode(Probe, 0, start[:words_at] + (50).to_bytes(4, "big") + bytes(99))


@pytest.mark.parametrize("version", [0, 1])
def test_null_where_it_is_not_allowed_is_refused(version: int) -> None:
    null = b"\xff\xff\xff\xff" if version == 0 else b"\0"
    with pytest.raises(WireError, match="may not be null"):
        decode(Probe, version, null + encode(Probe(), version)[len(null) :])


@pytest.mark.parametrize("count", [2, 9])
def test_a_null_element_is_refused(count: int) -> None:
    data = encode(Probe(texts=["a"] * count), 1)
    with pytest.raises(WireError, match="an element may not be null"):
        decode(Probe, 1, data.replace(b"\x02a" * count, b"\x02a" * (count - 1) + b"\0"))


@pytest.mark.parametrize(
    ("name", "start"), [("words", 11 * 4), ("nullable_text", 12 * 4 + 2), ("batch", 13 * 4 + 4)]
)
def test_only_minus_one_stands_for_null(name: str, start: int) -> None:
    empty = encode(Probe(words=None), 0)
    width = 2 if name == "nullable_text" else 4
    null, lower = (number.to_bytes(width, "big", signed=True) for number in (-1, -2))
    assert empty[start : start + width] == null
    with pytest.raises(WireError, match="negative length"):
        decode(Probe, 0, empty[:start] + lower + empty[start + width :])


@pytest.mark.parametrize(
    "varint", [b"\x80" * 5 + b"\x01", b"\xff" * 9 + b"\x01", b"\xff" * 11, b"\xff\xff\xff\xff\x1f"]
)
def test_a_varint_beyond_32_bits_is_refused(varint: bytes) -> None:
    with pytest.raises(WireError, match="a varint is longer than 32 bits"):
        decode(Probe, 1, varint + bytes(50))
    with pytest.raises(WireError, match="a varint is longer than 32 bits"):
        decode(Probe, 1, encode(Probe(), 1)[:-1] + varint + bytes(50))


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("text", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"ok\xf5\x80"])
def test_text_that_is_no_text_is_refused(version: int, text: bytes) -> None:
    placeholder = "z" * len(text)
    data = encode(Probe(text=placeholder), version)
    with pytest.raises(WireError):
        decode(Probe, version, data.replace(placeholder.encode(), text))


def test_a_compact_string_is_no_longer_than_kafka_allows() -> None:
    longest = "x" * 32_767
    assert decode(Probe, 1, encode(Probe(text=longest), 1)).text == longest
    data = encode(Probe(text=longest), 1)
    longer = data.replace(uvarint(32_768) + b"x", uvarint(32_769) + b"xx")
    with pytest.raises(WireError, match="long string"):
        decode(Probe, 1, longer)


# Tag sections by hand: a count, then what it claims to count.
BAD_TAGS = {
    "more tags than bytes": uvarint(2**31 - 1) + bytes(60),
    "one tag too many": uvarint(3) + tag_section([(40, b""), (41, b"")]),
    "a tag cut short": uvarint(1) + uvarint(40) + uvarint(5) + b"four",
    "a tag as long as can be": uvarint(1) + uvarint(40) + uvarint(2**32 - 1) + bytes(60),
    "a known tag with bytes to spare": uvarint(1) + tag_section([(0, b"\x02ab")]),
    "a known tag that reads past its end": uvarint(1) + tag_section([(0, b"\x05a")]) + bytes(9),
    "a known tag that is empty": uvarint(1) + tag_section([(1, b"")]),
    "a known tag of null": uvarint(1) + tag_section([(0, b"\0")]),
}


@pytest.mark.parametrize("section", BAD_TAGS.values(), ids=BAD_TAGS)
def test_a_bad_section_of_tags_is_refused(section: bytes) -> None:
    with pytest.raises(WireError):
        decode(Probe, 1, encode(Probe(), 1)[:-1] + section)


def test_more_tags_than_bytes_are_refused_before_any_is_read() -> None:
    section = uvarint(100) + tag_section([(40, b"")] * 99)
    with pytest.raises(WireError, match="100 tagged fields do not fit"):
        decode(Probe, 1, encode(Probe(), 1)[:-1] + section)


def test_tags_out_of_order_or_twice_are_read() -> None:
    tags = [(41, b"b"), (0, b"\x02a"), (40, b"a"), (0, b"\x02b"), (41, b"c")]
    message: Any = decode(Probe, 1, encode(Probe(), 1)[:-1] + uvarint(5) + tag_section(tags))
    assert message.tagged_text == "b"
    assert message.unknown_tags == tag_section([(41, b"b"), (40, b"a"), (41, b"c")])


@pytest.mark.parametrize("version", [0, 1])
def test_a_bad_element_deep_in_a_packed_array_is_refused_at_once(version: int) -> None:
    words = [Word(text=f"w{number}") for number in range(50)]
    data = encode(Probe(words=words), version)
    with pytest.raises(WireError):
        decode(Probe, version, data.replace(b"w49", b"w\xff9"))


@pytest.mark.parametrize("version", [0, 1])
def test_long_arrays_stay_packed_and_can_be_walked_again(version: int) -> None:
    message = filled(Probe, version, elements=9)
    read = decode(Probe, version, encode(message, version))
    for field in Probe.FIELDS:  # type: ignore[attr-defined]  # a declared message
        if field.kind == "array" and version in field.versions:
            packed = getattr(read, field.name)
            assert isinstance(packed, PackedArray)
            assert list(packed) == list(packed) == getattr(message, field.name)
