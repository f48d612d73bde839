"""Memory to write into, made without holding up other threads."""

import mmap
from contextlib import suppress

MAPPED_BYTES_MIN = 4 << 20
# For threads beside a loop that must not wait: slower for the thread itself, below the above.
MAPPED_APART_BYTES_MIN = 128 << 10

Room = bytearray | mmap.mmap

_HUGE_PAGES = getattr(mmap, "MADV_HUGEPAGE", None)


def room_of(size_bytes: int, mapped_bytes_min: int = MAPPED_BYTES_MIN) -> Room:
    """So many zeros, which may be changed.

    A `bytearray` is filled while all other threads wait, which takes longer than to inflate as
    much; what is mapped is zero as soon as it is looked at, and costs nothing until then.
    """
    if size_bytes < mapped_bytes_min:
        return bytearray(size_bytes)
    room = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if _HUGE_PAGES is not None:
        # A fault for every small page would take as long as inflating into it; not every kernel
        # has others.
        with suppress(OSError):
            room.madvise(_HUGE_PAGES)
    return room
