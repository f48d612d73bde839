"""Records as people type or pipe them: one on each line, with a key or as JSON."""

import base64
import binascii
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from riverlog.cli.refusals import Refused
from riverlog.client.outgoing import NewRecord
from riverlog.client.producer import RECORD_BYTES_MAX
from riverlog.records.record import Headers

_JSON_FIELDS = frozenset(
    {
        "key",
        "key_base64",
        "value",
        "value_base64",
        "headers",
        "partition",
        "timestamp_ms",
        # What `consume --format json` tells besides, and what has no meaning here.
        "topic",
        "offset",
    }
)


class LineFormat(NamedTuple):
    """How to read lines, and what every record has besides."""

    delimiter: bytes = b"\n"
    key_separator: bytes | None = None
    is_json: bool = False
    empty_is_null: bool = False
    key: bytes | None = None
    headers: Headers = ()
    partition: int | None = None

    def batches(self, pieces: Iterable[bytes]) -> Iterator[tuple[list[NewRecord], int]]:
        """The records of all the lines that a piece completes, and how many bytes they had.

        A line that cannot be read raises `Refused`, after those before it were given.
        """
        number = 0
        for lines in self._lines(pieces):
            records: list[NewRecord] = []
            unread: Refused | None = None
            for number, line in enumerate(lines, number + 1):  # noqa: B020 - it counts all lines.
                try:
                    if line.strip() or not self.is_json:
                        records.append(self._read(line, number))
                except Refused as refused:
                    unread = refused
                    break
            yield records, sum(map(len, lines)) + len(lines)
            if unread is not None:
                raise unread

    def record(self, value: bytes | None, key: bytes | None = None) -> NewRecord:
        """A record of this value."""
        chosen = self.key if key is None else key
        if self.empty_is_null:
            chosen, value = chosen or None, value or None
        return NewRecord(value, chosen, self.headers, partition=self.partition)

    def _lines(self, pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
        rest = b""
        for piece in pieces:
            *lines, rest = (rest + piece).split(self.delimiter)
            if lines:
                yield lines
            if len(rest) > RECORD_BYTES_MAX:
                raise Refused(f"a line is longer than {RECORD_BYTES_MAX} bytes, the most there is")
        if rest:
            yield [rest]

    def _read(self, line: bytes, number: int) -> NewRecord:
        if self.is_json:
            return self._from_json(line, number)
        return self.record(line) if self.key_separator is None else self._keyed(line, number)

    def _keyed(self, line: bytes, number: int) -> NewRecord:
        assert self.key_separator is not None, "there is one"
        key, separator, value = line.partition(self.key_separator)
        if not separator:
            raise Refused(f"line {number} has no {self.key_separator.decode(errors='replace')!r}")
        return self.record(value, key)

    def _from_json(self, line: bytes, number: int) -> NewRecord:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Refused(f"line {number} is no JSON: {error}") from None
        if not isinstance(fields, dict):
            raise Refused(f'line {number} is no JSON object, like {{"value": "hello"}}')
        if unknown := sorted(set(fields) - _JSON_FIELDS):
            raise Refused(f"line {number} has an unknown field '{unknown[0]}'")
        partition = fields.get("partition") if self.partition is None else self.partition
        timestamp_ms = fields.get("timestamp_ms")
        for name, value in (("partition", partition), ("timestamp_ms", timestamp_ms)):
            if value is not None and (type(value) is not int or not 0 <= value < 2**63):
                raise Refused(f"line {number}: {name} is a whole number, not {value!r}")
        key = _bytes_of(fields, "key", number)
        return NewRecord(
            _bytes_of(fields, "value", number),
            self.key if key is None else key,
            (*self.headers, *_headers_of(fields.get("headers"), number)),
            timestamp_ms,
            partition,
        )


def header_of(text: str) -> tuple[str, bytes]:
    """Reads NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Refused(f"'{text}' is no NAME=VALUE header")
    return name, os.fsencode(value)


def _bytes_of(fields: dict[str, Any], name: str, number: int) -> bytes | None:  # as JSON has it
    packed = fields.get(f"{name}_base64")
    if packed is not None:
        try:
            return base64.b64decode(packed, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise Refused(f"line {number}: {name}_base64 is no base64") from None
    return _encoded(fields.get(name), number)


def _encoded(value: object, number: int) -> bytes | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refused(f"line {number} has text that is no UTF-8") from None


def _headers_of(headers: object, number: int) -> Headers:
    pairs = list(headers.items()) if isinstance(headers, dict) else headers or []
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in pairs
    ):
        raise Refused(f"line {number}: headers are an object, or a list of [name, value]")
    return tuple((name, _encoded(value, number)) for name, value in pairs)
