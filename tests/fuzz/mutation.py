"""Changes to bytes that nobody understands: flips, lies about numbers, cuts, copies, splices."""

from collections.abc import Callable, Sequence
from random import Random

# The edges of every width, where counts, lengths and offsets go wrong.
EDGES = (
    *(-128, -2, -1, 0, 1, 2, 7, 8, 9, 16, 64, 100, 126, 127, 128, 255, 256, 1000, 4096),
    *(32766, 32767, 32768, 65535, 65536, 1 << 20, 100 << 20, (1 << 31) - 2, (1 << 31) - 1),
    *(1 << 31, (1 << 32) - 1, -(1 << 31), (1 << 63) - 1, -(1 << 63)),
)
# Varints as they should not be: too long, endless, larger than anything, longer than needed.
VARINTS = (
    b"\x00", b"\x01", b"\x7f", b"\x80\x00", b"\x80\x01", b"\xff\x7f", b"\xff\xff\x03",
    b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x1f",
    b"\x80\x80\x80\x80\x00", b"\x80\x80\x80\x80\x80\x00", b"\xff" * 9 + b"\x01", b"\xff" * 11,
)  # fmt: skip

CUT_BYTES_MAX = 32
COPY_BYTES_MAX = 64

Change = Callable[[bytearray, Random], None]


class Mutator:
    """Gives changed copies; `others` is what pieces are spliced in from."""

    def __init__(self, chance: Random, others: Sequence[bytes]) -> None:
        self.chance = chance
        self._others = others

    def mutated(self, data: bytes, start: int = 0) -> bytes:
        """`data` with one to four changes, none of them before `start`."""
        head, tail = data[:start], bytearray(data[start:])
        chance = self.chance
        for _ in range(1 + int(chance.random() ** 2 * 4)):
            if not tail:
                tail += b"\0"
            number = int(chance.random() * (len(_CHANGES) + 1))
            if number == len(_CHANGES):
                self._splice(tail)
            else:
                _CHANGES[number](tail, chance)
        return head + tail

    def _splice(self, data: bytearray) -> None:
        other = self._others[int(self.chance.random() * len(self._others))]
        at, theirs = _place(data, self.chance), int(self.chance.random() * len(other))
        data[at:] = other[theirs:]


def _place(data: bytearray, chance: Random) -> int:
    """A position in what is not empty; where requests say most, in front, a little more often."""
    where = chance.random()
    return int((where * where if chance.random() < 0.3 else where) * len(data))


def _flip_a_bit(data: bytearray, chance: Random) -> None:
    data[_place(data, chance)] ^= 1 << int(chance.random() * 8)


def _set_a_byte(data: bytearray, chance: Random) -> None:
    data[_place(data, chance)] = int(chance.random() * 256)


def _write_an_edge(data: bytearray, chance: Random) -> None:
    width = (1, 2, 4, 4, 8)[int(chance.random() * 5)]
    value = EDGES[int(chance.random() * len(EDGES))] & ((1 << 8 * width) - 1)
    at = _place(data, chance)
    data[at : at + width] = value.to_bytes(width, "big")


def _add_a_little(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    data[at] = (data[at] + int(chance.random() * 17) - 8) & 255


def _write_a_varint(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    replaced = int(chance.random() * 3)
    data[at : at + replaced] = VARINTS[int(chance.random() * len(VARINTS))]


def _cut_out(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    del data[at : at + 1 + int(chance.random() * CUT_BYTES_MAX)]


def _cut_off(data: bytearray, chance: Random) -> None:
    del data[_place(data, chance) :]


def _repeat(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    piece = data[at : at + 1 + int(chance.random() * COPY_BYTES_MAX)]
    data[at:at] = piece * (1 + int(chance.random() ** 4 * 20))


def _insert_noise(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    data[at:at] = chance.randbytes(1 + int(chance.random() * 8))


def _append(data: bytearray, chance: Random) -> None:
    data += bytes(1 + int(chance.random() * COPY_BYTES_MAX))


_CHANGES: tuple[Change, ...] = (
    _flip_a_bit, _flip_a_bit, _set_a_byte, _write_an_edge, _write_an_edge, _add_a_little,
    _write_a_varint, _cut_out, _cut_off, _repeat, _insert_noise, _append,
)  # fmt: skip
