"""Record batches to rows: whole batches in, Arrow out, with the C kernel where there is one."""

from typing import NamedTuple

import pyarrow as pa

from riverlog.kernel.library import library
from riverlog.kernel.wanted import Wanted
from riverlog.records.crc import Buffer

# One batch may inflate to this much: a kilobyte could otherwise become a gigabyte.
DECOMPRESSED_BYTES_MAX = 256 << 20


class UnreadableBatch(Exception):
    """A batch is not what it should be; its base offset and the reason are in the message."""


class Decoded(NamedTuple):
    """Rows, and how many bytes of the input they took: whole batches only."""

    rows: list[pa.RecordBatch]
    consumed_bytes: int


def decode(
    data: Buffer,
    wanted: Wanted,
    *,
    checks_crcs: bool = True,
    decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX,
) -> Decoded:
    """The wanted rows of all whole batches in `data`; what is cut at its end is left.

    Raises `UnreadableBatch` for the first batch that cannot be read, `UnknownColumn` at once.
    """
    if library() is None:
        from riverlog.kernel import fallback

        return fallback.decode(data, wanted, checks_crcs, decompressed_bytes_max)
    from riverlog.kernel import native

    return native.decode(data, wanted, checks_crcs, decompressed_bytes_max)
