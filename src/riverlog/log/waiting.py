"""Those who wait for a partition: for their records to be durable, or for more to read."""

import asyncio
from collections.abc import Callable

Watcher = Callable[[], None]
Told = Callable[[Exception | None], None]


class Waiting:
    """Those who wait for an offset to be durable, and watchers of the end of the log."""

    __slots__ = ("_told", "_watchers")

    def __init__(self) -> None:
        self._told: list[tuple[int, Told]] = []
        self._watchers: set[Watcher] = set()

    @property
    def is_anybody(self) -> bool:
        """Whether there is anybody to tell of what becomes durable."""
        return bool(self._told or self._watchers)

    def tell(self, end_offset: int, told: Told) -> None:
        """Calls `told` once: with None when `end_offset` is reached, or with what went wrong."""
        self._told.append((end_offset, told))

    def until(self, end_offset: int) -> asyncio.Future[None]:
        """Done once `end_offset` is reached; raises what went wrong."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def told(error: Exception | None) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        self.tell(end_offset, told)
        return future

    def settled(self, end_offset: int) -> asyncio.Future[None]:
        """Done once `end_offset` is reached, or never will be."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def told(_error: Exception | None) -> None:
            if not future.done():
                future.set_result(None)

        self.tell(end_offset, told)
        return future

    def reached(self, end_offset: int) -> None:
        """Tells everyone whose records are durable by now, and all watchers."""
        # Whoever is told may write on at once: the others must be waiting by then.
        reached = [told for wanted, told in self._told if wanted <= end_offset]
        self._told = [waiting for waiting in self._told if waiting[0] > end_offset]
        for told in reached:
            told(None)
        self.wake()

    def failed(self, error: Exception) -> None:
        """Tells everyone who waits for records that they will not be durable."""
        waiting, self._told = self._told, []
        for _, told in waiting:
            told(error)

    def watch(self, watcher: Watcher) -> None:
        """Calls back whenever more can be read, and when the partition closes."""
        self._watchers.add(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.discard(watcher)

    def wake(self) -> None:
        for watcher in list(self._watchers):
            watcher()
