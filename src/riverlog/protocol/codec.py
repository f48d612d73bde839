"""Messages to bytes and back, compiled per class and version on first use."""

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from riverlog.protocol.decoding import compile_decoder
from riverlog.protocol.encoding import compile_encoder
from riverlog.protocol.wire import Buffer, Decode, UnsupportedVersion, WireError, Write

M = TypeVar("M")

# What the compiled functions raise when bytes run out or are no text; `decode` declares one error.
_MALFORMED = (IndexError, struct.error, UnicodeDecodeError)


class Codec:
    """Reads and writes one version of one message; get it from `codec`, keep it for speed."""

    __slots__ = ("_decode", "_encode")

    def __init__(self, cls: Any, version: int) -> None:
        is_flexible = version in cls.FLEXIBLE
        self._decode: Decode[Any] = compile_decoder(cls, version, is_flexible, {})
        self._encode: Callable[[Any, Write], None] = compile_encoder(cls, version, is_flexible, {})

    def decode(self, data: bytes, position: int = 0) -> Any:
        """The message at `position`; any other bytes raise `WireError`.

        Bytes after the message are ignored, as Kafka does. Memory taken follows the bytes
        present, never a count they declare: long arrays stay packed until they are walked.
        """
        try:
            return self._decode(data, position)[0]
        except _MALFORMED as error:
            raise WireError(f"the bytes end early or are no text: {error}") from error

    def encode(self, message: Any) -> list[Buffer]:
        """The message as buffers to be sent one after the other; records are not copied."""
        parts: list[Buffer] = []
        self._encode(message, parts.append)
        return parts


def codec(cls: type[Any], version: int) -> Codec:
    """The codec of a message class at a version, or `UnsupportedVersion`."""
    found: Codec | None = cls.CODECS.get(version)
    if found is None:
        if version not in cls.VERSIONS:
            raise UnsupportedVersion(f"{cls.__name__} has no version {version}")
        found = cls.CODECS[version] = Codec(cls, version)
    return found


def decode(cls: type[M], version: int, data: bytes) -> M:
    """Reads one message; see `Codec.decode`."""
    message: M = codec(cls, version).decode(data)
    return message


def encode(message: object, version: int) -> bytes:
    """Writes one message into one buffer."""
    return b"".join(codec(type(message), version).encode(message))
