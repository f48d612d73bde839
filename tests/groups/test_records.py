"""Groups' facts in Kafka's bytes: what tools that read the offsets topic rely on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riverlog.groups.facts import (
    DurableFact,
    GenerationSettled,
    GroupForgotten,
    OffsetCommitted,
    OffsetForgotten,
    SettledMember,
)
from riverlog.groups.records import UnknownRecord, decode, encode, partition_of

GROUP = "readers"
MEMBER = SettledMember("m-1", None, "client", "/127.0.0.1", 60_000, 10_000, b"\0\1sub", b"share")
STATIC = MEMBER._replace(member_id="m-2", instance_id="b")


def test_an_offset_is_kept_in_kafkas_own_bytes() -> None:
    fact = OffsetCommitted("orders", 3, 42, 7, "note", 1_700_000_000_000)

    key, value = encode(GROUP, fact)

    assert key == b"\0\1" + b"\0\7readers" + b"\0\6orders" + b"\0\0\0\3"
    assert value == (
        b"\0\3"
        + (42).to_bytes(8, "big")
        + (7).to_bytes(4, "big")
        + b"\0\4note"
        + (1_700_000_000_000).to_bytes(8, "big")
    )


def test_an_offset_with_an_end_of_its_own_is_kept_in_the_version_that_has_one() -> None:
    fact = OffsetCommitted("orders", 3, 42, -1, "", 1_000, expires_ms=2_000)

    _, value = encode(GROUP, fact)

    assert value == (
        b"\0\1"
        + (42).to_bytes(8, "big")
        + b"\0\0"
        + (1_000).to_bytes(8, "big")
        + (2_000).to_bytes(8, "big")
    )


def test_a_generation_is_kept_in_kafkas_own_bytes() -> None:
    fact = GenerationSettled(5, "consumer", "range", "m-1", 9, (STATIC,))

    key, value = encode(GROUP, fact)

    assert key == b"\0\2" + b"\0\7readers"
    assert value == b"".join(
        [
            b"\0\3\0\x08consumer\0\0\0\5\0\5range\0\3m-1",
            (9).to_bytes(8, "big"),
            b"\0\0\0\1\0\3m-2\0\1b\0\6client\0\x0a/127.0.0.1",
            (60_000).to_bytes(4, "big"),
            (10_000).to_bytes(4, "big"),
            b"\0\0\0\5\0\1sub\0\0\0\5share",
        ]
    )


FACTS: list[DurableFact] = [
    OffsetCommitted("orders", 0, 2**62, 3, "größer", 5),
    OffsetCommitted("orders", 0, 0, -1, "", 5, expires_ms=9),
    OffsetForgotten("orders", 1),
    GenerationSettled(2**31 - 1, "connect", "v1", "m-1", 7, (MEMBER, STATIC)),
    GenerationSettled(3, "consumer", None, None, 7, ()),
    GroupForgotten(),
]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: type(fact).__name__)
def test_what_is_written_is_what_is_read(fact: DurableFact) -> None:
    assert decode(*encode(GROUP, fact)) == (GROUP, fact)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: type(fact).__name__)
def test_a_record_that_is_cut_anywhere_is_told_apart(fact: DurableFact) -> None:
    key, value = encode(GROUP, fact)

    for end in range(len(key)):
        with pytest.raises(UnknownRecord):
            decode(key[:end], value)
    for end in range(len(value or b"")):
        with pytest.raises(UnknownRecord):
            decode(key, (value or b"")[:end])


@given(key=st.none() | st.binary(max_size=60), value=st.none() | st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(key: bytes | None, value: bytes | None) -> None:
    try:
        decode(key, value)
    except UnknownRecord:
        return


@pytest.mark.parametrize(
    ("group_id", "count", "partition"),
    [
        # The third column is Java's: Utils.abs(groupId.hashCode) % count.
        ("", 50, 0),
        ("a", 50, 47),
        ("readers", 50, 28),
        ("console-consumer-12345", 50, 6),
        ("größer", 50, 15),
        ("𝄞 outside of the first plane", 50, 17),
        ("polygenelubricants", 50, 0),
    ],
)
def test_a_group_lives_where_kafka_would_put_it(group_id: str, count: int, partition: int) -> None:
    assert partition_of(group_id, count) == partition
