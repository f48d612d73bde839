"""Records that came in."""

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from riverlog.records.record import Headers


class ReceivedRecord(NamedTuple):
    """A record and its place. Keys, values and headers are the bytes that were sent."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    def text(self) -> str:
        """The value as text; bytes that are no UTF-8 raise `UnicodeDecodeError`, null is ""."""
        return "" if self.value is None else self.value.decode()

    def json(self) -> Any:  # whatever the JSON holds
        """The value as JSON; null is None, what is no JSON raises `ValueError`."""
        return None if self.value is None else json.loads(self.value)

    def key_text(self) -> str | None:
        """The key as text, None for none."""
        return None if self.key is None else self.key.decode()

    def header(self, name: str) -> bytes | None:
        """The last header of this name, None if there is none."""
        return dict(self.headers).get(name)

    @property
    def time(self) -> datetime:
        """The timestamp as an aware time in UTC."""
        return datetime.fromtimestamp(self.timestamp_ms / 1000, UTC)

    def __repr__(self) -> str:
        return (
            f"<{self.topic}/{self.partition}@{self.offset} key={_short(self.key)}"
            f" value={_short(self.value)}>"
        )


_SHOWN_BYTES = 60


def _short(data: bytes | None) -> str:
    if data is None or len(data) <= _SHOWN_BYTES:
        return repr(data)
    return f"{data[:_SHOWN_BYTES]!r}… ({len(data)} bytes)"
