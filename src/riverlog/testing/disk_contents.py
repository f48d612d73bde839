"""The bytes of one simulated file: as reads see them, and as the platter may hold them.

Between a write and the next sync a sector of the platter may hold any of its contents since the
last sync, independently of every other sector: that is what torn and reordered writes are. Only
sectors that differ are tracked, so a crash costs what was un-synced and not what is stored.
"""

from enum import StrEnum
from random import Random

SECTOR_BYTES = 512
_ZEROS = bytes(SECTOR_BYTES)


class Survival(StrEnum):
    """How much of what was not synced outlives a power cut; what was synced always does."""

    NOTHING = "nothing"
    EVERYTHING = "everything"
    RANDOM = "random"
    """Each name by chance; each file as one of the other three."""
    TORN = "torn"
    """All names; of each file, any of its sectors, and a size somewhere on its way."""


class Content:
    """A file's bytes in sectors; a missing sector is a hole and reads as zeros."""

    __slots__ = (
        "_dirty", "_earlier", "_is_shared", "_is_told", "_sectors", "_sizes", "failures", "size",
    )  # fmt: skip

    def __init__(self) -> None:
        self.size = 0
        # How often something could not be kept; whether anybody was told of the last time.
        self.failures = 0
        self._is_told = True
        self._sectors: dict[int, bytes] = {}
        self._is_shared = False
        # What the platter may hold instead of a sector, oldest first: the first is what was synced.
        self._earlier: dict[int, list[bytes]] = {}
        # What the next sync will write. A sector in `_earlier` and not here is a ghost: reads show
        # it, but a failed sync has dropped it and only another write brings it to the platter.
        self._dirty: set[int] = set()
        self._sizes = [0]

    @property
    def allocated_bytes(self) -> int:
        """The room it takes on the disk; holes take none."""
        return len(self._sectors) * SECTOR_BYTES

    def read(self, position: int, size: int) -> bytes:
        end = min(position + size, self.size)
        if end <= position:
            return b""
        first = position // SECTOR_BYTES
        sectors = self._sectors
        found = b"".join(sectors.get(n, _ZEROS) for n in range(first, _sectors_in(end)))
        start = position - first * SECTOR_BYTES
        return found[start : start + end - position]

    def fitting(self, position: int, size: int, free_bytes: int) -> int:
        """How many of `size` bytes at `position` can be written with so much room left."""
        free_sectors = free_bytes // SECTOR_BYTES
        end = position + size
        for n in range(position // SECTOR_BYTES, _sectors_in(end)):
            if n not in self._sectors:
                if free_sectors == 0:
                    return max(0, n * SECTOR_BYTES - position)
                free_sectors -= 1
        return size

    def write(self, position: int, data: bytes) -> None:
        if not data:
            return
        end = position + len(data)
        for n in range(position // SECTOR_BYTES, _sectors_in(end)):
            base = n * SECTOR_BYTES
            start, stop = max(position - base, 0), min(end - base, SECTOR_BYTES)
            old = self._sectors.get(n, _ZEROS)
            part = data[base + start - position : base + stop - position]
            self._replace(n, old[:start] + part + old[stop:])
        if end > self.size:
            self._resize(end)

    def truncate(self, size: int) -> None:
        if size < self.size:
            for n in [n for n in self._sectors if n >= _sectors_in(size)]:
                self._replace(n, None)
            kept = size % SECTOR_BYTES
            last = size // SECTOR_BYTES
            if kept and last in self._sectors:
                self._replace(last, self._sectors[last][:kept] + _ZEROS[kept:])
        if size != self.size:
            self._resize(size)

    def sync(self) -> None:
        for n in self._dirty:
            self._earlier.pop(n, None)
        self._dirty.clear()
        self._sizes = [self.size]

    @property
    def past_failures(self) -> int:
        """The failures that are no business of who opens the file now, as Linux sees it."""
        return self.failures if self._is_told else self.failures - 1

    def tell(self) -> None:
        """Somebody is told of the failures so far; who opens the file later will not be."""
        self._is_told = True

    def fail_to_sync(self, chance: Random) -> None:
        """Drops what a sync should have written, as Linux does: it is clean now, and not there.

        Reads go on showing it, and the next sync succeeds without it once the failure was told.
        """
        self.failures += 1
        self._is_told = False
        lucky = chance.choice((0.0, 0.5))
        for n in self._dirty:
            if chance.random() < lucky:
                del self._earlier[n]
        self._dirty.clear()

    def cut_power(self, survival: Survival, chance: Random) -> None:
        """Becomes what the platter holds; nobody remembers a failure."""
        self._is_told = True
        if not self._earlier and len(self._sizes) == 1:
            return
        if survival is Survival.RANDOM:
            survival = chance.choice((Survival.NOTHING, Survival.EVERYTHING, Survival.TORN))
        # A torn file may have lost nearly all or nearly nothing; a fixed rate would show neither.
        rate = {Survival.NOTHING: 0.0, Survival.EVERYTHING: 1.0}.get(survival, chance.random())
        self._own()
        for n, earlier in self._earlier.items():
            if n not in self._dirty or chance.random() >= rate:
                is_torn = survival is Survival.TORN and n in self._dirty
                self._sectors[n] = chance.choice(earlier) if is_torn else earlier[0]
        self.size = self._surviving_size(survival, chance)
        for n in [n for n in self._sectors if n >= _sectors_in(self.size)]:
            del self._sectors[n]
        if (kept := self.size % SECTOR_BYTES) and (
            last := self.size // SECTOR_BYTES
        ) in self._sectors:
            self._sectors[last] = self._sectors[last][:kept] + _ZEROS[kept:]
        self._earlier.clear()
        self._dirty.clear()
        self._sizes = [self.size]

    def copy(self) -> "Content":
        """The same bytes with the same future; sectors are shared until one of the two writes."""
        copy = Content()
        copy.size = self.size
        copy._sectors = self._sectors
        copy._is_shared = self._is_shared = True
        copy._earlier = {n: list(earlier) for n, earlier in self._earlier.items()}
        copy._dirty = set(self._dirty)
        copy._sizes = list(self._sizes)
        copy.failures = self.failures
        copy._is_told = self._is_told
        return copy

    def _surviving_size(self, survival: Survival, chance: Random) -> int:
        if survival is Survival.NOTHING:
            return self._sizes[0]
        if survival is Survival.EVERYTHING:
            return self.size
        between = chance.randint(min(self._sizes), max(self._sizes))
        return chance.choice((self._sizes[0], self.size, between))

    def _replace(self, n: int, sector: bytes | None) -> None:
        self._own()
        self._earlier.setdefault(n, []).append(self._sectors.get(n, _ZEROS))
        self._dirty.add(n)
        if sector is None:
            del self._sectors[n]
        else:
            self._sectors[n] = sector

    def _resize(self, size: int) -> None:
        self.size = size
        self._sizes.append(size)

    def _own(self) -> None:
        if self._is_shared:
            self._sectors = dict(self._sectors)
            self._is_shared = False


def _sectors_in(size: int) -> int:
    return -(-size // SECTOR_BYTES)
