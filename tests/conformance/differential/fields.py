"""A reply as fields by path, so that two of them can be laid side by side."""

from collections.abc import Iterator, Sequence
from typing import Any

from riverlog.protocol.error_codes import ErrorCode
from riverlog.records.batch import HEADER_SIZE, check_batch, read_header
from riverlog.records.errors import BatchError

Value = str | int | float | bytes | bool | None | tuple[object, ...]
Fields = dict[str, Value]

CLOSED = "(the connection is closed)"
PRESENT = "(is there)"
ABSENT = "(is not there)"

# What tells the elements of an array apart, first match first. Their order is not compared:
# Kafka's is that of its hash tables.
KEYS = (
    "name", "topic", "resource_name", "group_id", "key",
    "api_key", "partition_index", "partition", "index", "node_id", "broker_id",
)  # fmt: skip


def fields_of(message: Any, version: int) -> Fields:
    """Every field that this version of the message has."""
    return dict(_walk(message, version, ""))


def general(path: str) -> str:
    """The path without what tells elements apart: `topics[a].name` is `topics.name`."""
    kept = []
    depth = 0
    for character in path:
        depth += character == "["
        if not depth:
            kept.append(character)
        depth -= character == "]"
    return "".join(kept)


def _walk(message: Any, version: int, path: str) -> Iterator[tuple[str, Value]]:
    for field in message.FIELDS:
        if version not in field.versions:
            continue
        value = getattr(message, field.name)
        at = f"{path}.{field.name}" if path else field.name
        if field.kind == "records":
            yield from _batches(value, at)
        elif field.kind == "array" and value is not None and hasattr(field.of, "FIELDS"):
            yield at, PRESENT
            for key, element in _keyed(list(value)):
                yield f"{at}[{key}]", PRESENT
                yield from _walk(element, version, f"{at}[{key}]")
        elif field.kind == "structure" and value is not None:
            yield at, PRESENT
            yield from _walk(value, version, at)
        else:
            yield at, _shown(field.name, value)


def _keyed(elements: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    names = {field.name for field in elements[0].FIELDS} if elements else set()
    keys = [[getattr(one, key) for one in elements] for key in KEYS if key in names]
    telling = [values for values in keys if None not in values and values != [""] * len(values)]
    if telling:
        counts: dict[object, int] = {}
        for key, element in zip(telling[0], elements, strict=True):
            counts[key] = counts.get(key, 0) + 1
            yield str(key) if counts[key] == 1 else f"{key}, {counts[key]}", element
    else:
        yield from ((str(position), element) for position, element in enumerate(elements))


def _shown(name: str, value: Any) -> Value:
    if name == "error_code" or name.endswith("_error_code"):
        return ErrorCode(value).name
    if isinstance(value, list | tuple):
        return tuple(value)
    if isinstance(value, memoryview | bytearray):
        return bytes(value)
    shown: Value = value
    return shown


def _batches(records: Any, path: str) -> Iterator[tuple[str, Value]]:
    """Each batch by its header; what follows it as bytes. A batch may be cut at the end."""
    if records is None:
        yield path, None
        return
    data = bytes(records)
    position = 0
    while len(data) - position >= HEADER_SIZE:
        header = read_header(data, position)
        end = position + header.size_bytes
        if end > len(data):
            break
        at = f"{path}[{header.base_offset}]"
        yield at, PRESENT
        shown = {**header._asdict(), "crc": _is_right(data[position:end])}
        yield from ((f"{at}.{name}", value) for name, value in shown.items())
        yield f"{at}.body", data[position + HEADER_SIZE : end]
        position = end
    yield path, PRESENT if position else "no batch"
    yield f"{path}.cut_bytes", len(data) - position


def _is_right(batch: bytes) -> bool:
    """Whether the checksum is that of the batch, whatever ids are in it."""
    try:
        check_batch(batch)
    except BatchError:
        return False
    return True
