"""How the process keeps memory that it will need again in a moment."""

import sys

# Of glibc's malloc.h: how much free memory at the end of the heap is given back, and from which
# size on a block is mapped by itself.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_KEPT_BYTES = 64 << 20
_MAPPED_BYTES = 32 << 20


def keep_freed_memory() -> None:
    """Has malloc keep some megabytes for the next request instead of giving them back.

    A broker takes and frees a megabyte for every large request; given back each time, the kernel
    zeroes every page of it anew, which costs more than all the rest. It holds for the whole
    process: only a process of our own should do it. Without glibc nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
