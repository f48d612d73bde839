"""Records as `riverlog consume` writes them: as bytes, so that nothing is lost on the way."""

import base64
import json
import re
from collections.abc import Callable

from riverlog.cli.escapes import unescaped
from riverlog.cli.refusals import Refused
from riverlog.client.received import ReceivedRecord
from riverlog.settings.near_misses import near_miss

Write = Callable[[ReceivedRecord], bytes]

# What stands for a null in a hexadecimal line; an empty value is an empty column there.
_NULL = b"-"


def _value(record: ReceivedRecord) -> bytes:
    return (record.value or b"") + b"\n"


def _key_value(record: ReceivedRecord) -> bytes:
    return (record.key or b"") + b"\t" + (record.value or b"") + b"\n"


def _json(record: ReceivedRecord) -> bytes:
    fields: dict[str, object] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
    }
    _put(fields, "key", record.key)
    _put(fields, "value", record.value)
    if record.headers:
        fields["headers"] = [[name, _text(value)] for name, value in record.headers]
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def _hex(record: ReceivedRecord) -> bytes:
    where = f"{record.partition}\t{record.offset}\t".encode()
    key, value = (
        _NULL if data is None else data.hex().encode() for data in (record.key, record.value)
    )
    return where + key + b"\t" + value + b"\n"


FORMATS: dict[str, Write] = {
    "value": _value,
    "key-value": _key_value,
    "json": _json,
    "hex": _hex,
}

# kcat's letters.
_TOKENS: dict[bytes, Write] = {
    b"%": lambda _: b"%",
    b"s": lambda record: record.value or b"",
    b"S": lambda record: b"%d" % _length(record.value),
    b"k": lambda record: record.key or b"",
    b"K": lambda record: b"%d" % _length(record.key),
    b"t": lambda record: record.topic.encode(),
    b"p": lambda record: b"%d" % record.partition,
    b"o": lambda record: b"%d" % record.offset,
    b"T": lambda record: b"%d" % record.timestamp_ms,
    b"h": lambda record: b",".join(
        name.encode() + b"=" + (value or b"") for name, value in record.headers
    ),
}


def format_of(text: str) -> Write:
    """The way of writing that was asked for: by name, or a text with kcat's `%` letters."""
    if text in FORMATS:
        return FORMATS[text]
    if "%" not in text:
        raise Refused(f"there is no format '{text}'{near_miss(text, FORMATS)}")
    parts: list[Write | bytes] = []
    for piece in re.split(rb"(%.?)", unescaped(text, "--format"), flags=re.DOTALL):
        if not piece.startswith(b"%"):
            parts.append(piece)
        elif (token := _TOKENS.get(piece[1:])) is not None:
            parts.append(token)
        else:
            letters = ", ".join(f"%{letter.decode()}" for letter in _TOKENS)
            raise Refused(f"--format: {piece.decode(errors='replace')!r} is none of {letters}")
    return lambda record: b"".join(
        part if isinstance(part, bytes) else part(record) for part in parts
    )


def _length(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _put(fields: dict[str, object], name: str, data: bytes | None) -> None:
    """Text as it is; what is none in base64, under a name that says so."""
    try:
        fields[name] = None if data is None else data.decode()
    except UnicodeDecodeError:
        fields[f"{name}_base64"] = base64.b64encode(data or b"").decode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="backslashreplace")
