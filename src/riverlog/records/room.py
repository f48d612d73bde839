"""Memory to write into, made without holding up other threads."""

from mmap import mmap

MAPPED_BYTES_MIN = 4 << 20
# For threads beside a loop that must not wait: slower for the thread itself, below the above.
MAPPED_APART_BYTES_MIN = 128 << 10

Room = bytearray | mmap


def room_of(size_bytes: int, mapped_bytes_min: int = MAPPED_BYTES_MIN) -> Room:
    """So many zeros, which may be changed.

    A `bytearray` is filled while all other threads wait, which takes longer than to inflate as
    much; what is mapped is zero as soon as it is looked at.
    """
    return bytearray(size_bytes) if size_bytes < mapped_bytes_min else mmap(-1, size_bytes)
