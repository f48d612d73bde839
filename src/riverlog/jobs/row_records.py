"""Rows made records: which columns are key, value, time and headers, and how they are written."""

import base64
import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import NamedTuple

from riverlog.client.outgoing import NewRecord
from riverlog.jobs.errors import JobRefused
from riverlog.jobs.row_files import Row

_MS_MAX = 2**63 - 1


class BadValue(Exception):
    """A value cannot be what a column of this use must hold; the message says why."""


class Shape(NamedTuple):
    """Which column is what; without `value`, the whole row is the value, in JSON."""

    value: str | None = None
    key: str | None = None
    timestamp: str | None = None
    headers: tuple[str, ...] = ()

    def check(self, path: str, columns: tuple[str, ...] | None) -> None:
        """Raises `JobRefused` if a file has not got a column that it should have."""
        if columns is None:
            return
        for name in (self.value, self.key, self.timestamp, *self.headers):
            if name is not None and name not in columns:
                raise JobRefused(f"{path} has no column '{name}': it has {', '.join(columns)}")

    def record(self, row: Row, *more_headers: tuple[str, bytes]) -> NewRecord:
        """The record of a row, with these headers after its own; raises `BadValue`."""
        values = row.values
        try:
            if self.value is not None:
                value = text_of(values.get(self.value))
            else:
                value = row.text if row.text is not None else json_of(values)
            key = None if self.key is None else text_of(values.get(self.key))
            headers = tuple((name, text_of(values.get(name))) for name in self.headers)
        except UnicodeEncodeError:
            raise BadValue("half a surrogate pair is no text") from None
        at_ms = None if self.timestamp is None else _ms_of(self.timestamp, values)
        return NewRecord(value, key, headers + more_headers, at_ms)


def json_of(value: object) -> bytes:
    """Compact JSON; what JSON has no type for is text: times in ISO 8601, bytes in base64.

    Decimals keep their digits; numbers that are none are "NaN", "Infinity" and "-Infinity".
    """
    try:
        written = _ENCODER.encode(value)
    except ValueError:
        written = _ENCODER.encode(_without_nans(value))
    return written.encode()


def text_of(value: object) -> bytes | None:
    """A single value as bytes: text and bytes as they are, null as none, others as JSON has it."""
    match value:
        case None | bytes():
            return value
        case str():
            return value.encode()
        case bool() | int() | float() | dict() | list():
            return json_of(value)
    return _plain(value).encode()


def _plain(value: object) -> str:
    """For what JSON has no type for."""
    match value:
        case date() | time():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode()
    return str(value)


def _without_nans(value: object) -> object:
    match value:
        case dict():
            return {name: _without_nans(part) for name, part in value.items()}
        case list() | tuple():
            return [_without_nans(part) for part in value]
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return value


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
)


def _ms_of(name: str, values: Mapping[str, object]) -> int:
    """Milliseconds since 1970, a time in ISO 8601 (UTC where it does not say), or a time itself."""
    value = values.get(name)
    found: int | None = None
    if isinstance(value, str):
        found = _ms_in(value.strip())
    elif isinstance(value, datetime):
        found = _ms_at(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        found = value
    if found is None or not 0 <= found <= _MS_MAX:
        shown = repr(value) if isinstance(value, str) else str(value)
        raise BadValue(
            f"column {name} is no time: {shown[:60]} is neither milliseconds since 1970 nor like"
            " 2026-01-31T12:00:00"
        )
    return found


def _ms_in(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    try:
        return _ms_at(datetime.fromisoformat(text))
    except ValueError:
        return None


def _ms_at(moment: datetime) -> int:
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    # In whole numbers: a float would be off by one now and then.
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
