"""Records on their way out: what may be published, and where it went."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from riverlog.client.errors import InvalidArgument
from riverlog.records.record import Headers

Text = str | bytes | bytearray | memoryview
HeadersLike = Mapping[str, Text | None] | Iterable[tuple[str, Text | None]]


class NewRecord(NamedTuple):
    """A record to publish, when it is more than a value.

    Text is sent as UTF-8. Without `timestamp_ms` it has the time of publishing; without
    `partition` its key decides, and without a key it goes where there is room.
    """

    value: Text | None
    key: Text | None = None
    headers: HeadersLike | None = None
    timestamp_ms: int | None = None
    partition: int | None = None


# A value alone, a (key, value) pair, or everything.
Publishable = Text | None | tuple[Text | None, Text | None] | NewRecord


class Published(NamedTuple):
    """Where a record went; it is durable there."""

    topic: str
    partition: int
    offset: int


def as_record(item: Publishable) -> NewRecord:
    """What `publish_batch` was given, in its long form."""
    if isinstance(item, NewRecord):
        return item
    if isinstance(item, tuple):
        if len(item) != 2:
            raise InvalidArgument(f"a record is a value, (key, value) or NewRecord, not {item!r}")
        return NewRecord(value=item[1], key=item[0])
    return NewRecord(value=item)


def as_bytes(text: Text | None, what: str) -> bytes | None:
    """Bytes as they are sent, None for none; raises `InvalidArgument` for what is no text."""
    if text is None or isinstance(text, bytes):
        return text
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise InvalidArgument(f"{what} {text!r} cannot be written as UTF-8") from None
    if isinstance(text, bytearray | memoryview):
        return bytes(text)
    raise InvalidArgument(f"{what} is bytes, text or None, not {type(text).__name__}")


def as_headers(headers: HeadersLike | None) -> Headers:
    """Headers as they are sent; names may repeat when they are given as pairs."""
    if not headers:
        return ()
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    for name, _ in pairs:
        if not isinstance(name, str):
            raise InvalidArgument(f"the name of a header is text, not {name!r}")
        as_bytes(name, "the name of a header")
    return tuple((name, as_bytes(value, "a header")) for name, value in pairs)
