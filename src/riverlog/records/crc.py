"""CRC-32C (Castagnoli), the checksum of record batches."""

from fastcrc.crc32 import iscsi

Buffer = bytes | bytearray | memoryview


def crc32c(data: Buffer, initial: int = 0) -> int:
    """The checksum of `data`, going on from `initial`, the checksum of what came before it."""
    return iscsi(data, initial)
