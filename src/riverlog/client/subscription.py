"""Records one by one, wherever they come from."""

from collections.abc import Callable, Generator, Iterator
from inspect import isawaitable

from riverlog.client.errors import InvalidArgument
from riverlog.client.received import ReceivedRecord
from riverlog.client.source import ReadingOptions, Rebalance, Source


class Subscription:
    """Records as they come: `async for record in subscription`.

    Awaiting it first fixes where it begins: records published after that are read. It ends when
    its count or end is reached, after its timeout, or when it is closed; `async with` closes it.
    """

    def __init__(
        self,
        source: Source,
        options: ReadingOptions,
        on_close: Callable[["Subscription"], None],
    ) -> None:
        self._source = source
        self._on_rebalance = options.get("on_rebalance")
        self._left = options.get("count")
        if self._left is not None and self._left < 0:
            raise InvalidArgument("count is at least 0")
        self._on_close = on_close
        self._chunk: Iterator[ReceivedRecord] = iter(())
        self._given: ReceivedRecord | None = None
        self._is_closed = False

    def __await__(self) -> Generator[object, None, "Subscription"]:
        yield from self._source.open().__await__()
        return self

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> ReceivedRecord:
        if self._given is not None:
            self._source.finished(self._given)
            self._given = None
        record = None if self._source.is_stale else next(self._chunk, None)
        while record is None:
            chunk = await self.chunk()
            if isinstance(chunk, Rebalance):
                await self._tell(chunk)
            elif not chunk:
                raise StopAsyncIteration
            else:
                self._chunk = iter(chunk)
                record = next(self._chunk)
        self._given = record
        return record

    @property
    def is_stale(self) -> bool:
        """Whether the rest of the last chunk is not to be taken any more."""
        return self._source.is_stale

    async def chunk(self) -> list[ReceivedRecord] | Rebalance:
        """The next records all at once, for whoever counts them as finished; empty at the end."""
        chunk = [] if self._is_closed or self._left == 0 else await self._source.chunk()
        if isinstance(chunk, Rebalance):
            return chunk
        if self._left is not None:
            chunk = chunk[: self._left]
            self._left -= len(chunk)
        if not chunk:
            await self.close()
        return chunk

    def finished(self, record: ReceivedRecord) -> None:
        """Whoever took the record from a chunk is done with it; may be said from any thread."""
        self._source.finished(record)

    async def __aenter__(self) -> "Subscription":
        return await self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Reads no more; may be called twice."""
        if not self._is_closed:
            self._is_closed = True
            self._chunk = iter(())
            self._on_close(self)
            await self._source.close()

    async def _tell(self, rebalance: Rebalance) -> None:
        if self._on_rebalance is not None:
            result = self._on_rebalance(rebalance)
            if isawaitable(result):
                await result
