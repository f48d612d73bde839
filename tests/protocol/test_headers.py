"""Headers of requests and responses: which version they have, and what a bad one does."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverlog.protocol.codec import encode
from riverlog.protocol.headers import (
    read_client_id,
    read_response,
    read_start,
    request_frame,
    response_header,
)
from riverlog.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from riverlog.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from riverlog.protocol.wire import WireError, uvarint
from tests.protocol.samples import tag_section

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
FLEXIBLE, OLD = 4, 3
START = b"\0\x0c\0\x04\0\0\0\x07"


def header(client_id: bytes, tags: bytes = b"") -> bytes:
    return START + client_id + tags


def header_of(request: Any, version: int, client_id: str | None) -> bytes:
    frame = b"".join(request_frame(request, version, 7, client_id))
    return frame[4 : len(frame) - len(encode(request, version))]


def test_an_old_request_has_header_1_and_a_flexible_one_header_2() -> None:
    assert header_of(HEARTBEAT, OLD, "me") == b"\0\x0c\0\x03\0\0\0\x07\0\x02me"
    assert header_of(HEARTBEAT, FLEXIBLE, "me") == b"\0\x0c\0\x04\0\0\0\x07\0\x02me\0"


def test_a_request_frame_begins_with_its_length() -> None:
    prefix, *parts = request_frame(HEARTBEAT, FLEXIBLE, 7, "me")
    assert int.from_bytes(prefix, "big") == len(b"".join(parts))


def test_the_client_id_keeps_its_old_form_in_a_flexible_header() -> None:
    assert header_of(HEARTBEAT, FLEXIBLE, None) == START + b"\xff\xff\0"
    assert header_of(HEARTBEAT, FLEXIBLE, "é") == START + b"\0\x02\xc3\xa9\0"


def test_an_old_response_has_header_0_and_a_flexible_one_header_1() -> None:
    assert response_header(12, 7, is_flexible=False) == b"\0\0\0\x07"
    assert response_header(12, 7, is_flexible=True) == b"\0\0\0\x07\0"


def test_api_versions_answers_with_header_0_always() -> None:
    assert response_header(18, 7, is_flexible=True) == b"\0\0\0\x07"
    # Its request is as any other: flexible from version 3 on.
    assert header_of(ApiVersionsRequest(), 3, None).endswith(b"\xff\xff\0")
    assert header_of(ApiVersionsRequest(), 2, None).endswith(b"\xff\xff")


@pytest.mark.parametrize("version", range(5))
def test_a_response_of_api_versions_is_read_after_header_0(version: int) -> None:
    request, response = ApiVersionsRequest(), ApiVersionsResponse(api_keys=[])
    frame = b"\0\0\0\x09" + encode(response, version)
    assert read_response(request, version, frame, ApiVersionsResponse) == (9, response)


def test_the_start_tells_key_version_and_correlation_id() -> None:
    assert read_start(b"\0\x12\xff\xff\x80\0\0\0rest") == (18, -1, -(2**31))


@pytest.mark.parametrize("frame", [b"", b"\0", START[:-1]])
def test_a_frame_too_short_for_a_start_is_refused(frame: bytes) -> None:
    with pytest.raises(WireError, match="too short"):
        read_start(frame)


@pytest.mark.parametrize("is_flexible", [False, True])
@pytest.mark.parametrize("client_id", [None, "", "me", "é€𝄞", "x" * 32_767])
def test_a_client_id_is_read_back(client_id: str | None, is_flexible: bool) -> None:
    version = FLEXIBLE if is_flexible else OLD
    start = header_of(HEARTBEAT, version, client_id)
    assert read_client_id(start + b"message", is_flexible) == (client_id, len(start))


def test_tags_of_a_request_header_are_skipped() -> None:
    tags = uvarint(3) + tag_section([(0, b"x"), (1, b""), (900, bytes(300))])
    start = header(b"\0\x02me", tags)
    assert read_client_id(start + b"message", is_flexible=True) == ("me", len(start))


def test_an_old_header_has_no_tags_to_skip() -> None:
    assert read_client_id(header(b"\0\x02me", b"\x01"), is_flexible=False) == ("me", 12)


BAD_HEADERS = {
    "no client id": header(b""),
    "half a length": header(b"\0"),
    "a client id cut short": header(b"\0\x03me", b""),
    "a client id of -2 bytes": header(b"\xff\xfe", b"\0"),
    "a client id that is no text": header(b"\0\x01\xff", b"\0"),
    "no tags": header(b"\0\x02me"),
    "more tags than bytes": header(b"\0\x02me", uvarint(2**31 - 1) + bytes(8)),
    "a tag cut short": header(b"\0\x02me", uvarint(1) + b"\0\x05four"),
    "tags of a varint without end": header(b"\0\x02me", b"\xff" * 9),
    "a tag missing": header(b"\0\x02me", uvarint(2) + b"\0\x02ab"),
}


@pytest.mark.parametrize("frame", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_a_bad_request_header_is_refused(frame: bytes) -> None:
    with pytest.raises(WireError):
        read_client_id(frame, is_flexible=True)


def test_tags_of_a_response_header_are_skipped() -> None:
    response = HeartbeatResponse(error_code=25)
    tags = uvarint(2) + tag_section([(0, b"x"), (1, b"yz")])
    frame = b"\0\0\0\x07" + tags + encode(response, FLEXIBLE)
    assert read_response(HEARTBEAT, FLEXIBLE, frame, HeartbeatResponse) == (7, response)


@pytest.mark.parametrize(
    "frame", [b"", b"\0\0\0", b"\0\0\0\x07", b"\0\0\0\x07\x01\0\x09", b"\xff" * 9]
)
def test_a_bad_response_is_refused(frame: bytes) -> None:
    with pytest.raises(WireError):
        read_response(HEARTBEAT, FLEXIBLE, frame, HeartbeatResponse)


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(frame=st.binary(max_size=40), is_flexible=st.booleans())
def test_any_bytes_are_a_header_or_refused(frame: bytes, is_flexible: bool) -> None:
    try:
        read_start(frame)
        client_id, position = read_client_id(frame, is_flexible)
    except WireError:
        return
    assert client_id is None or isinstance(client_id, str)
    assert 10 <= position <= len(frame)
