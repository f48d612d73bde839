"""Record batches that lie: changed inside, with a length and a checksum that hide it."""

import struct
from random import Random

from riverlog.records.batch import HEADER_SIZE
from riverlog.records.builder import build_batch
from riverlog.records.compression import Codec, compress
from riverlog.records.crc import crc32c
from riverlog.records.record import Record
from tests.fuzz.mutation import EDGES, Mutator

NOW_MS = 1_790_000_000_000
PLAIN = [
    Record(0, NOW_MS, b"key", b"value" * 9, (("header", b"x"), ("null", None))),
    Record(1, NOW_MS + 1, None, b"", ()),
    Record(2, NOW_MS - 1000, b"", None, (("größer", b""),)),
]
SEEDS = (
    *(build_batch(PLAIN, codec=codec) for codec in Codec),
    build_batch([Record(0, NOW_MS, None, b"lone")]),
    build_batch([Record(number, NOW_MS, None, b"%d" % number) for number in range(40)]),
)

_LENGTH_AT, _LENGTH_END, _CRC_AT, _CRC_END = 8, 12, 17, 21
# Where each number of the header stands, and how wide it is.
_HEADER = (
    (0, "q"), (8, "i"), (12, "i"), (16, "b"), (17, "i"), (21, "h"), (23, "i"), (27, "q"), (35, "q"),
    (43, "q"), (51, "h"), (53, "i"), (57, "i"),
)  # fmt: skip
_WIDTHS = {"b": 8, "h": 16, "i": 32, "q": 64}
# The attributes: a codec, append time, transactional, control.
_ATTRIBUTES_AT = 21


class BatchMutator:
    """Gives batches that are wrong somewhere, most of them with a checksum that is right."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._bytes = Mutator(chance, SEEDS)

    def mutated(self, batch: bytes) -> bytes:
        """Changes in the header, in the records or in what they are compressed to."""
        chance = self._chance
        kind = chance.random()
        if kind < 0.1:
            return self._bytes.mutated(batch)
        changed = bytearray(batch)
        if kind < 0.35:
            self._change_header(changed)
        elif kind < 0.5:
            _pack(changed, _ATTRIBUTES_AT, "h", int(chance.random() * 64))
        elif kind < 0.85 or len(changed) <= HEADER_SIZE:
            changed = bytearray(self._bytes.mutated(bytes(changed), HEADER_SIZE))
        else:
            self._compress(changed)
        if kind < 0.15 or chance.random() < 0.9:
            hide(changed)
        if chance.random() < 0.03:
            changed += SEEDS[int(chance.random() * len(SEEDS))]
        return bytes(changed)

    def _change_header(self, batch: bytearray) -> None:
        for _ in range(1 + int(self._chance.random() * 2)):
            at, width = _HEADER[int(self._chance.random() * len(_HEADER))]
            _pack(batch, at, width, EDGES[int(self._chance.random() * len(EDGES))])

    def _compress(self, batch: bytearray) -> None:
        """Changed records behind sound compression, which alone cannot tell."""
        codec = Codec(1 + int(self._chance.random() * 4))
        records = self._bytes.mutated(bytes(batch[HEADER_SIZE:]))
        batch[HEADER_SIZE:] = compress(codec, records)
        _pack(batch, _ATTRIBUTES_AT, "h", codec)


def hide(batch: bytearray) -> None:
    """Gives it the length and the checksum of what it is now."""
    if len(batch) >= HEADER_SIZE:
        _pack(batch, _LENGTH_AT, "i", len(batch) - _LENGTH_END)
        struct.pack_into(">I", batch, _CRC_AT, crc32c(memoryview(batch)[_CRC_END:]))


def _pack(batch: bytearray, at: int, width: str, value: int) -> None:
    if at + _WIDTHS[width] // 8 <= len(batch):
        unsigned = value & ((1 << _WIDTHS[width]) - 1)
        struct.pack_into(f">{width.upper()}", batch, at, unsigned)
