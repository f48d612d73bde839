"""Compiles a message table into the Python function that reads one version of it.

Runs of fixed-width fields become one `unpack_from`; everything else is spelled out inline. The
compiled functions take (bytes, position) and give (value, position after it). They may raise
`IndexError`, `struct.error` and `UnicodeDecodeError` besides `WireError`; the codec translates.
"""

import struct
from collections.abc import Callable
from typing import Any

from riverlog.protocol.schema import Field
from riverlog.protocol.source import Compiled, Source
from riverlog.protocol.wire import (
    STRING_BYTES_MAX,
    UNPACKED_ELEMENTS_MAX,
    Decode,
    PackedArray,
    WireError,
    read_tags,
    uvarint_rest,
)

FIXED = {
    "boolean": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d", "uuid": "16s",
}  # fmt: skip


def compile_decoder(cls: Any, version: int, is_flexible: bool, compiled: Compiled) -> Decode[Any]:
    """The reader of `cls` at `version`; `compiled` is shared by all structs of one message."""
    if cls in compiled:
        return compiled[cls]
    reading = _Reading(version, is_flexible, compiled)
    reading.add(f"def decode(data, position, new=new, cls=cls):  # {cls.__name__} v{version}")
    reading.add("    size = len(data)")
    reading.add("    self = new(cls)")
    reading.source.scope |= {"new": object.__new__, "cls": cls}
    present = [field for field in cls.FIELDS if version in field.versions]
    plain = [field for field in present if field.tag is None]
    for field in cls.FIELDS:
        if field not in plain:
            reading.add(f"    self.{field.name} = {reading.source.constant(field.default)}")
    reading.read_all(plain)
    if is_flexible:
        reading.read_tagged([field for field in present if field.tag is not None])
    else:
        reading.add("    self.unknown_tags = b''")
    reading.add("    return self, position")
    compiled[cls] = reading.source.build("decode")
    return compiled[cls]


def width_of(element: Any, version: int, is_flexible: bool) -> int:
    """The least number of bytes an element of an array can take on the wire."""
    if isinstance(element, type):
        fields = [f for f in element.FIELDS if version in f.versions and f.tag is None]  # type: ignore[attr-defined]  # a declared struct
        return max(1, int(is_flexible) + sum(_least(f, version, is_flexible) for f in fields))
    return _least(element(), version, is_flexible)


def _least(field: Field, version: int, is_flexible: bool) -> int:
    if field.kind in FIXED:
        return struct.calcsize(">" + FIXED[field.kind])
    if field.kind == "structure":
        return 1 if version in field.nullable else width_of(field.of, version, is_flexible)
    if is_flexible:
        return 1
    return 2 if field.kind == "string" else 4


class _Reading:
    """Writes the lines that read one struct."""

    def __init__(self, version: int, is_flexible: bool, compiled: Compiled) -> None:
        self.version = version
        self.is_flexible = is_flexible
        self.compiled = compiled
        self.source = Source(
            WireError=WireError,
            PackedArray=PackedArray,
            uvarint_rest=uvarint_rest,
            read_tags=read_tags,
        )
        self.add = self.source.add

    def unpacker(self, layout: str) -> str:
        return self.source.struct_call("unpack_from", layout)

    def read_all(self, fields: list[Field]) -> None:
        run: list[Field] = []
        for field in fields:
            if field.kind in FIXED:
                run.append(field)
                continue
            self._read_run(run)
            run = []
            self.read_one(field, f"self.{field.name}", "    ")
        self._read_run(run)

    def _read_run(self, run: list[Field]) -> None:
        if not run:
            return
        layout = "".join(FIXED[field.kind] for field in run)
        targets = "".join(f"self.{field.name}, " for field in run)
        self.add(f"    {targets}= {self.unpacker(layout)}(data, position)")
        self.add(f"    position += {struct.calcsize('>' + layout)}")

    def read_one(self, field: Field, target: str, indent: str) -> None:
        """Adds the lines that read `field` into `target`, moving `position`."""
        kind = field.kind
        is_nullable = self.version in field.nullable
        if kind in FIXED:
            self.add(f"{indent}{target}, = {self.unpacker(FIXED[kind])}(data, position)")
            self.add(f"{indent}position += {struct.calcsize('>' + FIXED[kind])}")
        elif kind == "structure":
            self._read_structure(field, target, is_nullable, indent)
        else:
            self._read_length(kind, indent)
            self.add(f"{indent}if length < 0:")
            if is_nullable:
                self.add(f"{indent}    if length != -1: raise WireError('negative length')")
                self.add(f"{indent}    {target} = None")
            else:
                self.add(f"{indent}    raise WireError('{field.name} may not be null')")
            self.add(f"{indent}else:")
            if kind == "array":
                self._read_array(field.of, target, indent + "    ")
            else:
                self._read_sized(kind, target, indent + "    ")

    def _read_length(self, kind: str, indent: str) -> None:
        if self.is_flexible:
            self.add(f"{indent}length = data[position]; position += 1")
            self.add(f"{indent}if length > 127:")
            self.add(f"{indent}    length, position = uvarint_rest(data, position, length)")
            self.add(f"{indent}length -= 1")
        else:
            layout = "h" if kind == "string" else "i"
            self.add(f"{indent}length, = {self.unpacker(layout)}(data, position)")
            self.add(f"{indent}position += {2 if kind == 'string' else 4}")

    def _read_sized(self, kind: str, target: str, indent: str) -> None:
        self.add(f"{indent}end = position + length")
        self.add(f"{indent}if end > size: raise WireError('{kind} is cut short')")
        if kind == "string":
            if self.is_flexible:
                self.add(f"{indent}if length > {STRING_BYTES_MAX}: raise WireError('long string')")
            self.add(f"{indent}{target} = data[position:end].decode()")
        elif kind == "records":
            self.add(f"{indent}{target} = memoryview(data)[position:end]")
        else:
            self.add(f"{indent}{target} = data[position:end]")
        self.add(f"{indent}position = end")

    def _read_array(self, element: Any, target: str, indent: str) -> None:
        least = width_of(element, self.version, self.is_flexible)
        self.add(f"{indent}if length > (size - position) // {least}:")
        self.add(f"{indent}    raise WireError('an array is longer than its bytes')")
        read = self.source.constant(self._element_reader(element))
        self.add(f"{indent}if length <= {UNPACKED_ELEMENTS_MAX}:")
        self.add(f"{indent}    {target} = items = []")
        self.add(f"{indent}    for _ in range(length):")
        self.add(f"{indent}        item, position = {read}(data, position)")
        self.add(f"{indent}        items.append(item)")
        self.add(f"{indent}else:")
        self.add(f"{indent}    {target} = PackedArray(data, position, length, {read})")
        if not isinstance(element, type) and element().kind in FIXED:
            self.add(f"{indent}    position += length * {least}")
        else:
            # Reading and dropping every element proves it sound, at the cost of one at a time.
            self.add(f"{indent}    for _ in range(length):")
            self.add(f"{indent}        position = {read}(data, position)[1]")

    def _element_reader(self, element: Any) -> Callable[..., Any]:
        if isinstance(element, type):
            return compile_decoder(element, self.version, self.is_flexible, self.compiled)
        field: Field = element()
        field.name = "an element"
        if field.kind not in self.compiled:
            reading = _Reading(self.version, self.is_flexible, self.compiled)
            reading.add("def decode(data, position):")
            reading.add("    size = len(data)")
            reading.read_one(field, "element", "    ")
            reading.add("    return element, position")
            self.compiled[field.kind] = reading.source.build("decode")
        return self.compiled[field.kind]

    def _read_structure(self, field: Field, target: str, is_nullable: bool, indent: str) -> None:
        decode = compile_decoder(field.of, self.version, self.is_flexible, self.compiled)
        read = self.source.constant(decode)
        if is_nullable:
            self.add(f"{indent}is_present, = {self.unpacker('b')}(data, position); position += 1")
            self.add(f"{indent}if is_present < 0: {target} = None")
            self.add(f"{indent}else: {target}, position = {read}(data, position)")
        else:
            self.add(f"{indent}{target}, position = {read}(data, position)")

    def read_tagged(self, fields: list[Field]) -> None:
        """Adds the lines that read the tag section: known tags into fields, others kept raw."""
        self.add("    length = data[position]; position += 1")
        self.add("    if not length:")
        self.add("        self.unknown_tags = b''")
        self.add("        return self, position")
        self.add("    if length > 127:")
        self.add("        length, position = uvarint_rest(data, position, length)")
        self.add("    unknown = bytearray()")
        self.add("    finish = position")
        self.add("    for tag, start, position, finish in read_tags(data, position, length):")
        for field in fields:
            self.add(f"        if tag == {field.tag}:")
            self.read_one(field, f"self.{field.name}", "            ")
            self.add("            if position != finish:")
            self.add(f"                raise WireError('{field.name} has the wrong length')")
            self.add("            continue")
        self.add("        unknown += data[start:finish]")
        self.add("    self.unknown_tags = bytes(unknown)")
        self.add("    position = finish")
