"""Compiles a message table into the Python function that writes one version of it.

The compiled functions take (message, write) and call `write` with buffers in order. A field that
the version does not have is left out; a tagged field is written only when it differs from its
default, as Kafka does. A value that does not fit its type is our own mistake and raises.
"""

from collections.abc import Callable, Iterable
from typing import Any

from riverlog.protocol.decoding import FIXED
from riverlog.protocol.schema import Field
from riverlog.protocol.source import Compiled, Source
from riverlog.protocol.wire import (
    SMALL_UVARINTS,
    STRING_BYTES_MAX,
    Buffer,
    Write,
    uvarint,
    write_tags,
)

Encode = Callable[[Any, Write], None]

# A small buffer costs ten times its size until it is joined with others, and again meanwhile.
_LONG = 256
_JOINED_PARTS = 1024


def compile_encoder(cls: Any, version: int, is_flexible: bool, compiled: Compiled) -> Encode:
    """The writer of `cls` at `version`; `compiled` is shared by all structs of one message."""
    if cls in compiled:
        return compiled[cls]
    writing = _Writing(version, is_flexible, compiled)
    writing.add(f"def encode(self, write):  # {cls.__name__} v{version}")
    present = [field for field in cls.FIELDS if version in field.versions]
    writing.write_all([field for field in present if field.tag is None])
    if is_flexible:
        writing.write_tagged([field for field in present if field.tag is not None])
    writing.add("    return")
    compiled[cls] = writing.source.build("encode")
    return compiled[cls]


class _Writing:
    """Writes the lines that write one struct."""

    def __init__(self, version: int, is_flexible: bool, compiled: Compiled) -> None:
        self.version = version
        self.is_flexible = is_flexible
        self.compiled = compiled
        self.sink = "write"
        self.source = Source(
            SMALL=SMALL_UVARINTS,
            uvarint=uvarint,
            write_tags=write_tags,
            write_joined=_write_joined,
            text=_text,
        )
        self.add = self.source.add

    def packer(self, layout: str) -> str:
        return self.source.struct_call("pack", layout)

    def write_all(self, fields: list[Field]) -> None:
        run: list[Field] = []
        for field in fields:
            if field.kind in FIXED:
                run.append(field)
                continue
            self._write_run(run)
            run = []
            self.write_one(field, f"self.{field.name}", "    ")
        self._write_run(run)

    def _write_run(self, run: list[Field]) -> None:
        if run:
            layout = "".join(FIXED[field.kind] for field in run)
            values = ", ".join(f"self.{field.name}" for field in run)
            self.add(f"    {self.sink}({self.packer(layout)}({values}))")

    def write_one(self, field: Field, value: str, indent: str) -> None:
        """Adds the lines that write the expression `value` as `field` is written."""
        kind = field.kind
        if kind in FIXED:
            self.add(f"{indent}{self.sink}({self.packer(FIXED[kind])}({value}))")
            return
        self.add(f"{indent}value = {value}")
        if self.version in field.nullable:
            self.add(f"{indent}if value is None:")
            self.add(f"{indent}    {self.sink}({self._null(kind)!r})")
            self.add(f"{indent}else:")
            indent += "    "
        if kind == "structure":
            if self.version in field.nullable:
                self.add(f"{indent}{self.sink}(b'\\x01')")
            encode = compile_encoder(field.of, self.version, self.is_flexible, self.compiled)
            self.add(f"{indent}{self.source.constant(encode)}(value, {self.sink})")
        elif kind == "array":
            self._write_length(kind, indent)
            self._write_elements(field.of, indent)
        else:
            if kind == "string":
                self.add(f"{indent}value = text(value)")
            self._write_length(kind, indent)
            self.add(f"{indent}{self.sink}(value)")

    def _null(self, kind: str) -> bytes:
        if kind == "structure":
            return b"\xff"
        if self.is_flexible:
            return b"\0"
        return b"\xff\xff" if kind == "string" else b"\xff\xff\xff\xff"

    def _write_length(self, kind: str, indent: str) -> None:
        if self.is_flexible:
            self.add(f"{indent}length = len(value) + 1")
            self.add(f"{indent}{self.sink}(SMALL[length] if length < 128 else uvarint(length))")
        else:
            layout = "h" if kind == "string" else "i"
            self.add(f"{indent}{self.sink}({self.packer(layout)}(len(value)))")

    def _write_elements(self, element: Any, indent: str) -> None:
        if isinstance(element, type):
            encode = compile_encoder(element, self.version, self.is_flexible, self.compiled)
            write_element = self.source.constant(encode)
            if not _has_records(element):
                self.add(f"{indent}if len(value) > {_LONG}:")
                self.add(f"{indent}    write_joined(value, {write_element}, {self.sink})")
                self.add(f"{indent}else:")
                indent += "    "
            self.add(f"{indent}for element in value: {write_element}(element, {self.sink})")
            return
        self.add(f"{indent}for element in value:")
        self.write_one(element(), "element", indent + "    ")

    def write_tagged(self, fields: list[Field]) -> None:
        """Adds the lines that write the tag section, unknown tags included."""
        if fields:
            self.add("    known = []")
        for field in fields:
            value = f"self.{field.name}"
            if field.kind == "array":
                self.add(f"    if {value}:")
            else:
                default = self.source.constant(_omitted(field))
                self.add(f"    if {value} is not None and {value} != {default}:")
            self.add("        parts = []")
            self.sink = "parts.append"
            self.write_one(field, value, "        ")
            self.sink = "write"
            self.add(f"        known.append(({field.tag}, b''.join(parts)))")
        known = "known" if fields else "[]"
        condition = "known or self.unknown_tags" if fields else "self.unknown_tags"
        self.add(f"    if {condition}: write_tags(write, {known}, self.unknown_tags)")
        self.add("    else: write(b'\\0')")


def _write_joined(elements: Iterable[Any], encode: Encode, write: Write) -> None:
    """Writes the elements of a long array in few buffers."""
    parts: list[Buffer] = []
    for element in elements:
        encode(element, parts.append)
        if len(parts) > _JOINED_PARTS:
            write(b"".join(parts))
            parts.clear()
    write(b"".join(parts))


def _has_records(cls: Any) -> bool:
    """Whether records are somewhere in a struct: these are not to be copied."""
    return any(
        field.kind == "records" or (isinstance(field.of, type) and _has_records(field.of))
        for field in cls.FIELDS
    )


def _text(value: str) -> bytes:
    data = value.encode()
    if len(data) > STRING_BYTES_MAX:
        raise ValueError(f"a string of {len(data)} bytes does not fit into a message")
    return data


def _omitted(field: Field) -> Any:
    """The value at which a tagged field is not written."""
    if field.kind == "structure":
        return field.of(**{inner.name: inner.default for inner in field.of.FIELDS})
    return field.default
