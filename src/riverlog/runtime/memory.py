"""How the process keeps memory that it will need again in a moment, and gives back the rest.

Only a process of our own should do either: what is set here holds for all of it.
"""

import sys
import time
from collections.abc import Callable

from riverlog.runtime.clock import Clock

# Of glibc's malloc.h: how much free memory at the end of the heap is given back, from which size
# on a block is mapped by itself, and how many heaps there are.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_KEPT_BYTES = 64 << 20
_MAPPED_BYTES = 32 << 20

LOOK_MS = 5_000
# A process is quiet that computes for less than this part of the time.
QUIET_SHARE = 0.25
# It takes this long to use memory that would be worth giving back.
WORTHWHILE_S = 0.05


def keep_freed_memory() -> None:
    """Has malloc keep some megabytes for the next request instead of giving them back.

    A broker takes and frees a megabyte for every large request; given back each time, the kernel
    zeroes every page of it anew, which costs more than all the rest. Threads share one heap: the
    end of one of their own would never be given back. Without glibc nothing happens.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_M_ARENA_MAX, 1)


def give_back_freed_memory() -> None:
    """Gives every page back that malloc keeps and nobody uses.

    It takes about a tenth of a millisecond for each megabyte. Without glibc nothing happens.
    """
    malloc_trim = _of_glibc("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


async def give_back_when_quiet(
    clock: Clock,
    give_back: Callable[[], None] = give_back_freed_memory,
    computed_s: Callable[[], float] = time.process_time,
) -> None:
    """Gives freed memory back, while it runs, whenever little is done after something was."""
    seen_s = given_s = computed_s()
    while True:
        await clock.sleep_ms(LOOK_MS)
        now_s = computed_s()
        is_quiet = now_s - seen_s < QUIET_SHARE * LOOK_MS / 1000
        seen_s = now_s
        if is_quiet and now_s - given_s > WORTHWHILE_S:
            give_back()
            given_s = now_s


def _of_glibc(name: str) -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    return getattr(ctypes.CDLL(None), name, None)
