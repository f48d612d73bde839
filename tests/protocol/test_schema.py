"""What a declared message promises: required fields, defaults, equality, versions, tags."""

from collections.abc import Sequence
from typing import Any

import pytest

from riverlog.protocol.codec import codec, decode, encode
from riverlog.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from riverlog.protocol.messages.heartbeat import HeartbeatRequest
from riverlog.protocol.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from riverlog.protocol.schema import Versions, array, int32, message, string, struct
from riverlog.protocol.wire import PackedArray, UnsupportedVersion, WireError
from tests.protocol.samples import Probe, Tiny, tag_section, tagged


@struct
class Stop:
    name: str = string()
    platform: int = int32("1+", default=7)


@message(key=-2, versions="1-3", flexible="2+")
class Journey:
    stops: Sequence[Stop] = array(Stop)
    train: str | None = string("2+", nullable="2+", default=None)
    seat: int = int32("3+", default=-1, tag=0)
    old_seat: int = int32("1-2")


def make(cls: Any, **values: Any) -> Any:
    """Builds what the type checker would refuse."""
    return cls(**values)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("3+", [3, 4, 32_767], [-1, 0, 2]),
        ("0-4", [0, 1, 4], [-1, 5]),
        ("2", [2], [1, 3]),
        ("10-12", [10, 11, 12], [1, 9, 13]),
        ("none", [], [-1, 0, 1, 2, 32_767]),
    ],
)
def test_a_range_of_versions_is_read(text: str, inside: list[int], outside: list[int]) -> None:
    versions = Versions(text)
    assert all(version in versions for version in inside)
    assert not any(version in versions for version in outside)


def test_a_field_without_default_must_be_given() -> None:
    with pytest.raises(TypeError, match="member_id"):
        make(HeartbeatRequest, group_id="g", generation_id=1)


def test_a_field_that_is_not_declared_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        make(HeartbeatRequest, group_id="g", generation_id=1, member_id="m", colour="red")
    journey: Any = Journey(stops=[], old_seat=1)
    with pytest.raises(AttributeError):
        journey.colour = "red"


def test_fields_are_given_by_name_alone() -> None:
    with pytest.raises(TypeError):
        HeartbeatRequest("g", 1, "m")  # type: ignore[call-arg]  # what is refused


def test_a_field_with_default_may_be_left_out() -> None:
    journey = Journey(stops=[Stop(name="Ulm")], old_seat=3)
    assert (journey.train, journey.seat, journey.stops[0].platform) == (None, -1, 7)


def test_a_field_that_a_version_lacks_reads_as_its_default_or_zero() -> None:
    full = Journey(stops=[Stop(name="Ulm", platform=3)], train="ICE", seat=4, old_seat=5)
    first = decode(Journey, 1, encode(full, 1))
    assert (first.train, first.seat, first.old_seat) == (None, -1, 5)
    third = decode(Journey, 3, encode(full, 3))
    assert (third.train, third.seat, third.old_seat) == ("ICE", 4, 0)


def test_messages_are_equal_by_class_and_content() -> None:
    one: Any = Journey(stops=[Stop(name="Ulm")], old_seat=1)
    assert one == Journey(stops=(Stop(name="Ulm"),), old_seat=1)
    assert one != Journey(stops=[Stop(name="Aalen")], old_seat=1)
    assert one != Journey(stops=[], old_seat=1)
    assert one != Stop(name="Ulm")
    assert one != "Ulm"
    assert tagged(Tiny(flag=True), tag_section([(9, b"")])) != Tiny(flag=True)


def test_messages_have_no_hash_since_they_can_change() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Stop(name="Ulm"))


def test_a_message_shows_its_fields() -> None:
    journey = Journey(stops=[Stop(name="Ulm")], old_seat=2)
    assert repr(journey) == (
        "Journey(stops=[Stop(name='Ulm', platform=7)], train=None, seat=-1, old_seat=2)"
    )


@pytest.mark.parametrize("version", [0, 4, -1, 32_767])
def test_a_version_that_is_not_known_is_refused_by_name(version: int) -> None:
    with pytest.raises(UnsupportedVersion, match=f"Journey has no version {version}"):
        codec(Journey, version)
    with pytest.raises(WireError):
        decode(Journey, version, bytes(99))


def test_a_codec_is_compiled_once() -> None:
    assert codec(Journey, 2) is codec(Journey, 2)
    assert codec(Journey, 2) is not codec(Journey, 3)


def test_a_tagged_field_is_written_only_when_it_differs_from_its_default() -> None:
    plain = encode(Journey(stops=[], old_seat=0), 3)
    assert plain.endswith(b"\0\0")
    seated = encode(Journey(stops=[], old_seat=0, seat=5), 3)
    assert seated == plain[:-1] + b"\x01\x00\x04\0\0\0\x05"


def test_a_tagged_struct_of_defaults_is_left_out() -> None:
    absent = PartitionProduceResponse(index=1, base_offset=2)
    default = PartitionProduceResponse(index=1, base_offset=2, current_leader=LeaderIdAndEpoch())
    other = PartitionProduceResponse(
        index=1, base_offset=2, current_leader=LeaderIdAndEpoch(leader_id=3)
    )
    written = [encode(produced(part), 10) for part in (absent, default, other)]
    assert written[0] == written[1] != written[2]


def produced(part: PartitionProduceResponse) -> Any:
    return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[part])])


def test_unknown_tags_pass_through_in_the_order_of_their_tags() -> None:
    # Received out of order, around a tag that this version knows.
    received = tag_section([(90, b"z"), (0, b"\0\0\0\x05"), (12, b"y")])
    data = encode(Journey(stops=[], old_seat=0), 3)[:-1] + b"\x03" + received

    journey: Any = decode(Journey, 3, data)

    assert journey.seat == 5
    assert journey.unknown_tags == tag_section([(90, b"z"), (12, b"y")])
    ordered = tag_section([(0, b"\0\0\0\x05"), (12, b"y"), (90, b"z")])
    assert encode(journey, 3) == data[: -len(received)] + ordered


def test_unknown_tags_of_inner_structs_pass_through() -> None:
    stop = tagged(Stop(name="Ulm"), tag_section([(3, b"steps"), (4, b"")]))
    journey = Journey(stops=[stop] * 9, old_seat=0)
    read = decode(Journey, 2, encode(journey, 2))
    assert isinstance(read.stops, PackedArray)
    assert encode(read, 2) == encode(journey, 2)


def test_a_version_without_tags_leaves_unknown_ones_out() -> None:
    journey = Journey(stops=[], old_seat=1)
    assert encode(tagged(journey, tag_section([(5, b"x")])), 1) == encode(journey, 1)


def test_records_are_not_copied_on_the_way_in_or_out() -> None:
    batch = bytes(1000)
    data = encode(Probe(batch=batch), 1)
    read = decode(Probe, 1, data)
    assert isinstance(read.batch, memoryview)
    assert read.batch.obj is data
    assert any(part is read.batch for part in codec(Probe, 1).encode(read))


@pytest.mark.parametrize("count", [0, 256, 257, 1023, 5_000])
@pytest.mark.parametrize("version", [1, 2])
def test_a_long_array_is_written_in_few_buffers(count: int, version: int) -> None:
    journey = Journey(stops=[Stop(name=f"{n}", platform=n) for n in range(count)], old_seat=0)
    parts = codec(Journey, version).encode(journey)
    assert len(parts) < 256 * 5
    assert decode(Journey, version, b"".join(parts)) == journey


def test_records_in_a_long_array_are_not_copied_either() -> None:
    batch = bytes(1000)
    places = [
        PartitionData(partition_index=n, high_watermark=0, aborted_transactions=None, records=batch)
        for n in range(1_000)
    ]
    topic = FetchableTopicResponse(topic="orders", partitions=places)
    parts = codec(FetchResponse, 12).encode(FetchResponse(responses=[topic]))
    assert sum(part is batch for part in parts) == 1_000


def test_a_packed_array_behaves_as_a_sequence() -> None:
    numbers = list(range(1000, 1020))
    packed = decode(Probe, 1, encode(Probe(ints=numbers), 1)).ints
    assert isinstance(packed, PackedArray)
    assert len(packed) == 20
    assert (packed[0], packed[19], packed[-1]) == (1000, 1019, 1019)
    assert packed[2:4] == [1002, 1003]
    assert (1005 in packed, 5 in packed) == (True, False)
    assert packed == numbers
    assert packed == tuple(numbers)
    assert packed != numbers[:-1]
    assert packed != [*numbers[:-1], 0]
    assert packed != "text"
    assert repr(packed) == "<PackedArray of 20>"
    with pytest.raises(IndexError):
        packed[20]
    with pytest.raises(TypeError, match="unhashable"):
        hash(packed)


@pytest.mark.parametrize("version", [0, 1])
def test_a_string_too_long_for_the_wire_is_our_own_mistake(version: int) -> None:
    with pytest.raises(ValueError, match="32768 bytes"):
        encode(Probe(text="x" * 32_768), version)
