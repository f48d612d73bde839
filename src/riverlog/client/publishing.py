"""What becomes of a batch of records: all results at once, or a future for each."""

import asyncio
from collections.abc import Generator, Sequence
from functools import partial

from riverlog.client.lane import Batch
from riverlog.client.outgoing import Published


class Publishing:
    """Records that were published together; `await` it for its results."""

    __slots__ = ("_owners", "_topic")

    def __init__(self, topic: str, owners: Sequence[tuple[Batch, int, int]]) -> None:
        self._topic = topic
        # Of each record: its batch, its place in that, and its partition.
        self._owners = owners

    def __len__(self) -> int:
        return len(self._owners)

    def __await__(self) -> Generator[object, None, list[Published]]:
        return self.results().__await__()

    def futures(self) -> list[asyncio.Future[Published]]:
        """A future for every record, in the order they were given."""
        loop = asyncio.get_running_loop()
        made: list[asyncio.Future[Published]] = []
        for place in self._owners:
            future: asyncio.Future[Published] = loop.create_future()
            made.append(future)
            place[0].done.add_done_callback(partial(self._settle, future, place))
        return made

    async def results(self) -> list[Published]:
        """Waits for all and tells where each went; raises the first failure there is."""
        if waiting := {batch.done for batch, _, _ in self._owners}:
            await asyncio.wait(waiting)
        return [self._result(place) for place in self._owners]

    def _result(self, place: tuple[Batch, int, int]) -> Published:
        batch, index, partition = place
        return Published(self._topic, partition, batch.offset_of(index))

    def _settle(
        self, future: asyncio.Future[Published], place: tuple[Batch, int, int], _: object
    ) -> None:
        if future.done():
            return
        try:
            future.set_result(self._result(place))
        except Exception as error:  # noqa: BLE001 - it is the future's to raise.
            future.set_exception(error)
