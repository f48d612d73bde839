"""An object store in memory: for tests and for brokers that keep nothing."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from riverlog.stores.disk import Disk, OsDisk, opened
from riverlog.stores.object_store import (
    LIST_LIMIT,
    KeyTaken,
    NoSuchKey,
    StoreError,
    check_key,
    check_prefix,
)


class MemoryStore:
    """An `ObjectStore` that lasts as long as the process; `disk` is where `create_from` reads."""

    def __init__(self, disk: Disk | None = None) -> None:
        self._disk = disk or OsDisk()
        self._objects: dict[str, bytes] = {}
        self._keys: list[str] = []

    async def create(self, key: str, data: bytes) -> None:
        check_key(key)
        if key in self._objects:
            raise KeyTaken(key)
        self._objects[key] = bytes(data)
        insort(self._keys, key)

    async def create_from(self, key: str, path: str) -> None:
        check_key(key)
        try:
            with opened(self._disk.open(path)) as file:
                data = file.read(0, file.size())
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        await self.create(key, data)

    async def read(self, key: str, start: int, size: int) -> bytes:
        assert start >= 0, "positions count from the beginning"
        assert size >= 0, "a size is not negative"
        return self._find(key)[start : start + size]

    async def size(self, key: str) -> int:
        return len(self._find(key))

    async def list(
        self, prefix: str = "", after: str = "", limit: int = LIST_LIMIT
    ) -> Sequence[str]:
        check_prefix(prefix)
        first = bisect_right(self._keys, max(prefix, after))
        page = self._keys[first : first + limit]
        return [key for key in page if key.startswith(prefix)]

    async def delete(self, key: str) -> None:
        check_key(key)
        if self._objects.pop(key, None) is not None:
            del self._keys[bisect_left(self._keys, key)]

    def _find(self, key: str) -> bytes:
        check_key(key)
        try:
            return self._objects[key]
        except KeyError:
            raise NoSuchKey(key) from None
