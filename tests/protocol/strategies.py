"""Random messages: any class at any version, within what that version can carry."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from hypothesis import strategies as st

from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.schema import Field
from riverlog.protocol.wire import UNPACKED_ELEMENTS_MAX
from tests.protocol.samples import tag_section

Strategy = st.SearchStrategy[Any]
# For a field of a message: the values an outside library can take, or None where it takes all.
Narrow = Callable[[Any, Field], Strategy | None]
Allowed = Callable[[Field], Strategy | None]

TABLES = [cls for key in ApiKey for cls in tables(key)]


def versions_of_table(cls: Any) -> range:
    return range(cls.VERSIONS.first, cls.VERSIONS.last + 1)


PAIRS = [(cls, version) for cls in TABLES for version in versions_of_table(cls)]
PAIR_IDS = [f"{cls.__name__}-v{version}" for cls, version in PAIRS]


def _signed(bits: int) -> Strategy:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return st.sampled_from([-1, 0, 1, least, most]) | st.integers(least, most)


# 126 to 128 bytes are where a compact length grows to two bytes.
STRINGS = st.sampled_from(["", "a", "orders", "é€𝄞", "x" * 126, "x" * 127, "ü" * 64]) | st.text(
    max_size=5
)
BYTES = st.sampled_from([b"", b"\0", b"\xff" * 127, bytes(300)]) | st.binary(max_size=9)
PRIMITIVES: dict[str, Strategy] = {
    "boolean": st.booleans(),
    "int8": _signed(8),
    "int16": _signed(16),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": _signed(32),
    "uint32": st.integers(0, 2**32 - 1),
    "int64": _signed(64),
    "float64": st.floats(allow_nan=False),
    "uuid": st.sampled_from([bytes(16), bytes(range(16)), b"\xff" * 16]),
    "string": STRINGS,
    "data": BYTES,
    "records": BYTES | BYTES.map(lambda data: memoryview(data)),
}


@cache
def messages(cls: Any, version: int, narrow: Narrow = lambda cls, field: None) -> Strategy:
    """Messages of `cls` as `version` can carry them; fields of other versions keep defaults."""
    return _structs(cls, version, lambda field: narrow(cls, field))


@cache
def with_unknown_tags(cls: Any, version: int) -> Strategy:
    """The same, where some structs also carry tags that nobody knows."""
    message = messages(cls, version)
    if version not in cls.FLEXIBLE:
        return message
    return st.tuples(message, st.lists(UNKNOWN_TAGS, min_size=1, max_size=4)).map(_tag_some)


def structs_of(message: Any) -> Iterator[Any]:
    """A message and all structs inside it."""
    yield message
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.kind == "structure" and value is not None:
            yield from structs_of(value)
        elif field.kind == "array" and isinstance(field.of, type):
            for element in value or ():
                yield from structs_of(element)


# Known tags are small; Kafka numbers them from 0 in each struct.
UNKNOWN_TAGS = st.dictionaries(st.integers(20, 2**32 - 1), BYTES, max_size=3).map(
    lambda fields: tag_section(sorted(fields.items()))
)


def _tag_some(drawn: tuple[Any, list[bytes]]) -> Any:
    message, sections = drawn
    for number, part in enumerate(structs_of(message)):
        part.unknown_tags = sections[number % len(sections)]
    return message


def _structs(cls: Any, version: int, allowed: Allowed) -> Strategy:
    fields = [field for field in cls.FIELDS if version in field.versions]
    absent = {f.name: f.default for f in cls.FIELDS if f.is_required and f not in fields}
    names = [field.name for field in fields]

    def build(values: tuple[Any, ...]) -> Any:
        return cls(**absent, **dict(zip(names, values, strict=True)))

    return st.tuples(*(_values(f, version, allowed) for f in fields)).map(build)


def _values(field: Field, version: int, allowed: Allowed) -> Strategy:
    values = allowed(field)
    if values is None:
        values = _plain_values(field, version, allowed)
    return st.none() | values if version in field.nullable else values


def _plain_values(field: Field, version: int, allowed: Allowed) -> Strategy:
    if field.kind in PRIMITIVES:
        return PRIMITIVES[field.kind]
    if field.kind == "structure":
        inner = _structs(field.of, version, allowed)
        if field.tag is None:
            return inner
        # A tagged struct of defaults is left out on the wire, and reads as None.
        return inner.map(lambda value: None if _is_default(value) else value)
    if isinstance(field.of, type):
        element = _structs(field.of, version, allowed)
    else:
        element = _values(field.of(), version, allowed)
    return st.lists(element, max_size=2) | _long_lists(element)


def _is_default(value: Any) -> bool:
    return all(bool(getattr(value, field.name) == field.default) for field in value.FIELDS)


def _long_lists(element: Strategy) -> Strategy:
    """Lists that stay packed; they repeat one element, so that drawing them is cheap."""
    sizes = st.integers(UNPACKED_ELEMENTS_MAX, UNPACKED_ELEMENTS_MAX + 2)
    return st.tuples(element, sizes).map(lambda drawn: [drawn[0]] * drawn[1])
