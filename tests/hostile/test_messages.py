"""Messages whose counts, tags, lengths and texts lie; APIs and versions that are not served."""

import struct

import pytest

from riverlog.protocol.error_codes import ErrorCode
from riverlog.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from riverlog.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.hostile.scene import Scene, frame_of

PIPELINED = 10_000
METADATA, API_VERSIONS = 3, 18
OLD, FLEXIBLE = 1, 9
ALL_TOPICS = MetadataRequest(topics=None)
VERSIONS = ApiVersionsRequest(client_software_name="hostile", client_software_version="1")
LONGEST_VARINT = b"\xff\xff\xff\xff\x07"


def request(key: int, version: int, body: bytes = b"", header: bytes = b"\xff\xff") -> bytes:
    """A frame without its length: no client id, and a body of any bytes."""
    return struct.pack(">hhi", key, version, 1) + header + body


def old(body: bytes) -> bytes:
    return request(METADATA, OLD, body)


def flexible(body: bytes) -> bytes:
    return request(METADATA, FLEXIBLE, body, b"\xff\xff\x00")


REST = b"\x01\x00\x00"  # what follows the topics of a flexible Metadata request, but for tags
ONE_TOPIC = b"\x02"

REFUSED = {
    "count -2": old(struct.pack(">i", -2)),
    "count 2^31-1": old(struct.pack(">i", 2**31 - 1)),
    "count beyond the bytes": old(struct.pack(">ih", 5, 1) + b"a"),
    "compact count 2^31-1": flexible(LONGEST_VARINT),
    "tag count huge": flexible(b"\x00" + REST + LONGEST_VARINT),
    "tag size huge": flexible(b"\x00" + REST + b"\x01\x07" + LONGEST_VARINT),
    "header tag count huge": request(METADATA, FLEXIBLE, header=b"\xff\xff" + LONGEST_VARINT),
    "compact length 0, not nullable": flexible(ONE_TOPIC + b"\x00\x00" + REST + b"\x00"),
    "varint of 6 bytes": flexible(b"\x80\x80\x80\x80\x80\x01"),
    "varint of 10 bytes": flexible(b"\x80" * 9 + b"\x01"),
    "varint of 11 bytes": flexible(b"\x80" * 10 + b"\x01"),
    "text that is no UTF-8": old(struct.pack(">ih", 1, 2) + b"\xff\xfe"),
    "text of 32,768 bytes": flexible(ONE_TOPIC + b"\x81\x80\x02" + b"x" * 32_768 + b"\0" + REST),
    "client id that is no UTF-8": request(METADATA, OLD, b"\xff" * 4, b"\x00\x01\xff"),
    "an unknown API": request(999, 0),
    "a negative API": request(-1, 0),
    "a version above": request(METADATA, 99),
    "a version below": request(METADATA, -1),
    "no header": b"\x00\x03\x00",
    "no body": request(METADATA, OLD),
}


@pytest.mark.parametrize("frame", REFUSED.values(), ids=REFUSED)
def test_a_message_that_lies_closes_the_connection(scene: Scene, frame: bytes) -> None:
    with scene.attack():
        client = scene.connect()
        client.send(frame)
        assert client.is_cut_off()


@pytest.mark.parametrize(
    "tags",
    [
        pytest.param(b"\x02\x07\x01a\x07\x01b", id="twice"),
        pytest.param(b"\x02\x09\x01a\x07\x01b", id="unsorted"),
        pytest.param(b"\x01\x07\x80\x80\x30" + bytes(3 << 18), id="of 768 KiB"),
        pytest.param(b"\x80\x80\x01" + b"\x07\x00" * (1 << 14), id="16,384 of them"),
    ],
)
def test_unknown_tags_are_skipped_whatever_they_are(scene: Scene, tags: bytes) -> None:
    with scene.attack():
        client = scene.connect()
        client.send(flexible(b"\x01" + REST + tags))
        assert client.receive() is not None
        assert client.ask(ALL_TOPICS, FLEXIBLE, MetadataResponse).brokers


def test_a_text_with_a_nul_is_no_name_of_a_topic(scene: Scene) -> None:
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="a\0b")])
    with scene.attack():
        (answer,) = scene.connect().ask(asked, FLEXIBLE, MetadataResponse).topics
        assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("version", [99, -1])
def test_another_version_of_api_versions_is_answered_with_what_there_is(
    scene: Scene, version: int
) -> None:
    with scene.attack():
        client = scene.connect()
        client.send(request(API_VERSIONS, version))
        reply = client.receive()
        assert reply is not None
        assert reply[4:6] == struct.pack(">h", ErrorCode.UNSUPPORTED_VERSION)
        assert client.ask(VERSIONS, 3, ApiVersionsResponse).error_code == 0


def test_a_header_of_another_version_harms_nobody(scene: Scene) -> None:
    with scene.attack():
        client = scene.connect()
        client.send(request(METADATA, FLEXIBLE, b"\x00\x01\x00\x00\x00"))
        client.send(request(METADATA, OLD, b"\x00\x00\x00\x00", b"\xff\xff\x00"))
        assert client.receive() is None or client.ask(VERSIONS, 3, ApiVersionsResponse)


def test_ten_thousand_requests_at_once_are_answered_in_order(scene: Scene) -> None:
    with scene.attack() as bystander:
        client = scene.connect()
        client.write(b"".join(frame_of(VERSIONS, 3, number) for number in range(PIPELINED)))
        bystander.wait_for_more()
        for number in range(PIPELINED):
            reply = client.receive()
            assert reply is not None
            assert int.from_bytes(reply[:4], "big") == number
