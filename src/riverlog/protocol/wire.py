"""The smallest pieces of the wire: errors, varints, and arrays that stay packed until read."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")

Buffer = bytes | memoryview
Write = Callable[[Buffer], None]
Decode = Callable[[bytes, int], tuple[T, int]]

# Arrays of up to this many elements are decoded at once; longer ones stay packed. A Python object
# costs ten to forty times its wire size, so this is what bounds memory by the bytes received.
UNPACKED_ELEMENTS_MAX = 8

# Kafka's own bound on the length of a string, whatever the width of its length field.
STRING_BYTES_MAX = 0x7FFF


class WireError(Exception):
    """The bytes are not the message they claim to be; the connection cannot be trusted further."""


class UnsupportedVersion(WireError):
    """The message is known, this version of it is not."""


def uvarint(value: int) -> bytes:
    """Encodes an unsigned varint of at most 32 bits."""
    if value < 0x80:
        return SMALL_UVARINTS[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_uvarint(data: bytes, position: int) -> tuple[int, int]:
    """Gives the value and the position after it; raises `IndexError` at the end of the bytes."""
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    return uvarint_rest(data, position + 1, byte)


def uvarint_rest(data: bytes, position: int, first: int) -> tuple[int, int]:
    """Finishes a varint whose first byte, known to have its high bit set, was read already."""
    value = first & 0x7F
    for shift in (7, 14, 21, 28):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFF_FFFF:
                break
            return value, position
    raise WireError("a varint is longer than 32 bits")


def read_tags(data: bytes, position: int, count: int) -> Iterator[tuple[int, int, int, int]]:
    """Walks a section of tagged fields: (tag, start of the field, its data, its end) for each."""
    size = len(data)
    if count > (size - position) // 2:
        raise WireError(f"{count} tagged fields do not fit into the bytes left")
    for _ in range(count):
        start = position
        tag, position = read_uvarint(data, position)
        length, position = read_uvarint(data, position)
        end = position + length
        if end > size:
            raise WireError(f"tagged field {tag} is cut short")
        yield tag, start, position, end
        position = end


def write_tags(write: Write, known: list[tuple[int, bytes]], unknown: bytes) -> None:
    """Writes a section of tagged fields in the order of their tags.

    `unknown` holds fields as they were received, so that a message passes through unharmed.
    """
    fields = [(tag, uvarint(tag) + uvarint(len(data)) + data) for tag, data in known]
    position = 0
    while position < len(unknown):
        tag, start, _, position = next(read_tags(unknown, position, 1))
        fields.append((tag, unknown[start:position]))
    fields.sort(key=lambda field: field[0])
    write(uvarint(len(fields)))
    for _, data in fields:
        write(data)


class PackedArray(Sequence[T]):
    """A long array as it came: checked when it was received, decoded each time it is walked.

    It holds on to the received bytes. Walking it never raises; equal to any sequence with equal
    elements. Looking up one element costs a walk up to it.
    """

    __slots__ = ("_count", "_data", "_decode", "_start")

    def __init__(self, data: bytes, start: int, count: int, decode: Decode[T]) -> None:
        self._data = data
        self._start = start
        self._count = count
        self._decode = decode

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        data, position, decode = self._data, self._start, self._decode
        for _ in range(self._count):
            element, position = decode(data, position)
            yield element

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return list(self)[index]
        wanted = range(self._count)[index]
        for number, element in enumerate(self):
            if number == wanted:
                return element
        raise AssertionError("a packed array ended before its count")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # compares by content, like a list

    def __repr__(self) -> str:
        return f"<PackedArray of {self._count}>"


SMALL_UVARINTS = [bytes([value]) for value in range(0x80)]
