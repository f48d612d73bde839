"""Decoding takes memory by the bytes received: at most 4 times them, and a fixed floor.

Four times, since text of one wide character costs four bytes for each of its characters. The floor
is what small messages cost beyond that: arrays of up to 8 elements, three levels deep, are objects
(150 KB at worst, DescribeConfigs), and one string of 32 KiB is copied twice on its way (66 KB).
"""

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from riverlog.protocol.codec import codec, encode
from riverlog.protocol.messages.describe_configs import DescribeConfigsResponse
from riverlog.protocol.wire import STRING_BYTES_MAX, WireError, uvarint
from tests.protocol.samples import Probe, Tiny, Word, filled, tag_section, tagged
from tests.protocol.strategies import PAIR_IDS, PAIRS

FLOOR_BYTES = 256 << 10
KIB, MIB = 1 << 10, 1 << 20

WIDE = "𝄞"
LONGEST_WIDE = "x" * (STRING_BYTES_MAX - len(WIDE.encode())) + WIDE
UNKNOWN = tag_section([(20, b"")])


def decoding_peak_bytes(cls: Any, version: int, data: bytes) -> int:
    read = codec(cls, version)
    tracemalloc.start()
    try:
        message = read.decode(data)
    except WireError as error:
        message = error
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del message
    return peak_bytes


def assert_bounded(cls: Any, version: int, data: bytes) -> None:
    assert decoding_peak_bytes(cls, version, data) <= 4 * len(data) + FLOOR_BYTES


@pytest.mark.parametrize(("cls", "version"), PAIRS, ids=PAIR_IDS)
@pytest.mark.parametrize("elements", [8, 16])
def test_a_message_of_many_small_things_is_bounded(cls: Any, version: int, elements: int) -> None:
    tags = UNKNOWN if version in cls.FLEXIBLE else b""
    data = encode(filled(cls, version, elements, WIDE, tags), version)
    assert_bounded(cls, version, data)
    assert_bounded(cls, version, data[:-1])


@pytest.mark.parametrize("version", [1, 4])
def test_the_dearest_message_with_the_longest_string_is_bounded(version: int) -> None:
    message = filled(DescribeConfigsResponse, version, 8, WIDE)
    message.results = [*message.results[:-1], filled_result(version)]
    assert_bounded(DescribeConfigsResponse, version, encode(message, version))


def filled_result(version: int) -> Any:
    """The last result, in which the very last string is the longest there can be."""
    result = filled(DescribeConfigsResponse, version, 8, WIDE).results[0]
    last = filled(DescribeConfigsResponse, version, 1, WIDE).results[0].configs[0]
    last.documentation = last.synonyms[0].name = LONGEST_WIDE
    result.configs = [*result.configs[:-1], last]
    return result


def unknown_tags(count: int, content: bytes) -> bytes:
    return encode(tagged(Probe(), tag_section([(20, content)] * count)), 1)


def known_tags(tag: int, content: bytes, size: int) -> bytes:
    field = tag_section([(tag, content)])
    count = size // len(field)
    return encode(Probe(), 1)[:-1] + uvarint(count) + field * count


def tagged_tinies(count: int) -> bytes:
    return encode(Probe(tinies=[tagged(Tiny(flag=True), UNKNOWN)] * count), 1)


# What takes a step for each element, so the sizes stay small.
STEPWISE: dict[str, Callable[[int], bytes]] = {
    "empty strings": lambda size: encode(Probe(texts=[""] * size), 1),
    "short strings": lambda size: encode(Probe(texts=["ab"] * (size // 3)), 1),
    "wide strings": lambda size: encode(Probe(texts=[WIDE] * (size // 5)), 1),
    "old strings": lambda size: encode(Probe(texts=["ab"] * (size // 4)), 0),
    "empty blobs": lambda size: encode(Probe(blobs=[b""] * size), 1),
    "tiny structs": lambda size: encode(Probe(tinies=[Tiny(flag=True)] * (size // 2)), 1),
    "tiny structs with tags": lambda size: tagged_tinies(size // 4),
    "structs of text": lambda size: encode(Probe(words=[Word(text="")] * (size // 2)), 1),
    "tagged structs": lambda size: encode(Probe(tagged_words=[Word(text="")] * (size // 2)), 1),
    "unknown tags": lambda size: unknown_tags(size // 2, b""),
    "unknown tags of a byte": lambda size: unknown_tags(size // 3, b"x"),
    "one known tag again and again": lambda size: known_tags(0, b"\x02a", size),
    "one known array again and again": lambda size: known_tags(1, b"\x02" + bytes(4), size),
    "one known struct again and again": lambda size: known_tags(3, b"\x02a\0", size),
}
BULK: dict[str, Callable[[int], bytes]] = {
    "int8s": lambda size: encode(Probe(bytes_=[-100] * size), 1),
    "int64s": lambda size: encode(Probe(longs=[2**60] * (size // 8)), 0),
    "ids": lambda size: encode(Probe(ids=[bytes(16)] * (size // 16)), 1),
    "longest wide strings": lambda size: encode(Probe(texts=[LONGEST_WIDE] * (size >> 15)), 1),
    "one blob": lambda size: encode(Probe(blob=bytes(size)), 1),
    "records": lambda size: encode(Probe(batch=bytes(size)), 0),
    "one unknown tag": lambda size: unknown_tags(1, bytes(size)),
    "long unknown tags": lambda size: unknown_tags(size >> 10, bytes(1 << 10)),
    "long known tag": lambda size: known_tags(0, uvarint(32_001) + b"\xc3\xa9" * 16_000, size),
}


@pytest.mark.parametrize("build", STEPWISE.values(), ids=STEPWISE)
def test_many_small_things_are_bounded(build: Callable[[int], bytes]) -> None:
    assert_whole_and_cut_are_bounded(build(128 * KIB), 128 * KIB)


@pytest.mark.parametrize("build", BULK.values(), ids=BULK)
@pytest.mark.parametrize("size", [64 * KIB, 256 * KIB, 4 * MIB])
def test_large_things_are_bounded(build: Callable[[int], bytes], size: int) -> None:
    assert_whole_and_cut_are_bounded(build(size), size)


def assert_whole_and_cut_are_bounded(data: bytes, size: int) -> None:
    assert len(data) > 0.9 * size
    for version in (0, 1):
        assert_bounded(Probe, version, data)
        assert_bounded(Probe, version, data[: len(data) // 2])


@pytest.mark.parametrize("text", [LONGEST_WIDE, LONGEST_WIDE[::-1], "é" * 16_000, "\0" * 32_767])
def test_the_longest_strings_kept_are_bounded(text: str) -> None:
    texts = [text] * 8
    assert_bounded(Probe, 1, encode(Probe(texts=texts, text=text, nullable_text=text), 1))


@pytest.mark.parametrize("version", [0, 1])
def test_a_count_alone_costs_nothing(version: int) -> None:
    count = (2**31 - 1).to_bytes(4, "big") if version == 0 else uvarint(2**31)
    assert decoding_peak_bytes(Probe, version, count + bytes(64)) < 8 * KIB
