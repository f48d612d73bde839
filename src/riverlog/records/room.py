"""Memory to write into, made without holding up other threads."""

from mmap import mmap

MAPPED_BYTES_MIN = 4 << 20

Room = bytearray | mmap


def room_of(size_bytes: int) -> Room:
    """So many zeros, which may be changed.

    A `bytearray` is filled while all other threads wait, which takes longer than to inflate as
    much; what is mapped is zero as soon as it is looked at.
    """
    return bytearray(size_bytes) if size_bytes < MAPPED_BYTES_MIN else mmap(-1, size_bytes)
