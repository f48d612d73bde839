"""Request and response headers: what comes before a message in its frame.

A flexible request has header version 2, others 1; a flexible response 1, others 0. ApiVersions
always answers with header version 0, so that a client can read it before it knows the broker.
"""

import struct
from typing import Any

from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.codec import codec
from riverlog.protocol.frames import framed
from riverlog.protocol.wire import Buffer, WireError, read_tags, read_uvarint

_START = struct.Struct(">hhi")
START_BYTES = _START.size
_CORRELATION = struct.Struct(">i")
_LENGTH = struct.Struct(">h")


def read_start(frame: bytes) -> tuple[int, int, int]:
    """API key, version and correlation id: enough to know how to read on."""
    try:
        return _START.unpack_from(frame)
    except struct.error as error:
        raise WireError("a frame is too short for a request header") from error


def read_client_id(frame: bytes, is_flexible: bool) -> tuple[str | None, int]:
    """The rest of a request header, and where the message begins."""
    try:
        (length,) = _LENGTH.unpack_from(frame, _START.size)
        position = _START.size + _LENGTH.size
        client_id = None
        if length >= 0:
            end = position + length
            if end > len(frame):
                raise WireError("the client id is cut short")
            client_id = frame[position:end].decode()
            position = end
        elif length != -1:
            raise WireError("the client id has a negative length")
        if is_flexible:
            count, position = read_uvarint(frame, position)
            for _, _, _, end in read_tags(frame, position, count):
                position = end
        return client_id, position
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError("a request header is cut short or no text") from error


def response_header(key: int, correlation_id: int, is_flexible: bool) -> bytes:
    """The header of the response to a request of API `key`."""
    if is_flexible and key != ApiKey.API_VERSIONS:
        return _CORRELATION.pack(correlation_id) + b"\0"
    return _CORRELATION.pack(correlation_id)


def request_frame(
    request: Any, version: int, correlation_id: int, client_id: str | None
) -> list[Buffer]:
    """A whole request as a client sends it, length prefix included."""
    encoded_id = b"" if client_id is None else client_id.encode()
    header = _START.pack(request.API_KEY, version, correlation_id)
    header += _LENGTH.pack(-1 if client_id is None else len(encoded_id)) + encoded_id
    if version in request.FLEXIBLE:
        header += b"\0"
    return framed([header, *codec(type(request), version).encode(request)])


def read_response(request: Any, version: int, frame: bytes, response: type[Any]) -> tuple[int, Any]:
    """The correlation id and the message of a response to `request`, without length prefix."""
    try:
        (correlation_id,) = _CORRELATION.unpack_from(frame)
        position = _CORRELATION.size
        if version in request.FLEXIBLE and request.API_KEY != ApiKey.API_VERSIONS:
            count, position = read_uvarint(frame, position)
            for _, _, _, end in read_tags(frame, position, count):
                position = end
    except (struct.error, IndexError) as error:
        raise WireError("a response header is cut short") from error
    return correlation_id, codec(response, version).decode(frame, position)
