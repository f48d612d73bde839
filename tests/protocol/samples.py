"""Messages with every field filled, of any class and version; and a probe with every kind of field.

The probe stands in for what no table has yet: arrays of every primitive, many tags.
"""

from collections.abc import Sequence
from typing import Any

from riverlog.protocol.schema import (
    Field,
    array,
    boolean,
    data,
    float64,
    int8,
    int16,
    int32,
    int64,
    message,
    records,
    string,
    struct,
    structure,
    uint16,
    uint32,
    uuid,
)
from riverlog.protocol.wire import Buffer, uvarint

# Numbers beyond those that Python keeps ready, so that each costs an object.
PRIMITIVES: dict[str, Any] = {
    "boolean": True,
    "int8": -100,
    "int16": -30_000,
    "uint16": 60_000,
    "int32": -(2**31) + 5,
    "uint32": 2**32 - 5,
    "int64": -(2**63) + 5,
    "float64": 1.5,
    "uuid": bytes(range(16)),
}


@struct
class Tiny:
    flag: bool = boolean()


@struct
class Word:
    text: str = string()


@message(key=-1, versions="0-1", flexible="1+")
class Probe:
    bytes_: Sequence[int] = array(int8, default=())
    shorts: Sequence[int] = array(int16, default=())
    unsigned_shorts: Sequence[int] = array(uint16, default=())
    ints: Sequence[int] = array(int32, default=())
    unsigned_ints: Sequence[int] = array(uint32, default=())
    longs: Sequence[int] = array(int64, default=())
    doubles: Sequence[float] = array(float64, default=())
    ids: Sequence[bytes] = array(uuid, default=())
    texts: Sequence[str] = array(string, default=())
    blobs: Sequence[bytes] = array(data, default=())
    tinies: Sequence[Tiny] = array(Tiny, default=())
    words: Sequence[Word] | None = array(Word, nullable="0+", default=())
    text: str = string(default="")
    nullable_text: str | None = string(nullable="0+", default=None)
    blob: bytes = data(default=b"")
    batch: Buffer | None = records(nullable="0+", default=None)
    inner: Tiny | None = structure(Tiny, nullable="0+", default=None)
    tagged_text: str = string("1+", default="", tag=0)
    tagged_ints: Sequence[int] = array(int32, "1+", default=(), tag=1)
    tagged_words: Sequence[Word] = array(Word, "1+", default=(), tag=2)
    tagged_inner: Word | None = structure(Word, "1+", default=None, tag=3)


def filled(
    cls: Any, version: int, elements: int, text: str = "é", tags: bytes = b"", blob: bytes = b"xx"
) -> Any:
    """A message whose every array, inner ones too, has `elements` equal elements."""
    values = {}
    for field in cls.FIELDS:
        if version in field.versions:
            values[field.name] = _value(field, version, elements, text, tags, blob)
        elif field.is_required:
            values[field.name] = field.default
    return tagged(cls(**values), tags)


def _value(field: Field, version: int, elements: int, text: str, tags: bytes, blob: bytes) -> Any:
    if field.kind == "string":
        return text
    if field.kind in ("data", "records"):
        return blob
    if field.kind == "structure":
        return filled(field.of, version, elements, text, tags, blob)
    if field.kind == "array":
        if isinstance(field.of, type):
            return [filled(field.of, version, elements, text, tags, blob)] * elements
        return [_value(field.of(), version, elements, text, tags, blob)] * elements
    return PRIMITIVES[field.kind]


def tagged(part: Any, section: bytes) -> Any:
    """The same struct or message, carrying tags that nobody knows."""
    part.unknown_tags = section
    return part


def tag_section(fields: list[tuple[int, bytes]]) -> bytes:
    """Tagged fields as they stand in a message, in the order given, without their count."""
    return b"".join(uvarint(tag) + uvarint(len(content)) + content for tag, content in fields)
