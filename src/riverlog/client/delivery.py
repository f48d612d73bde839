"""Records given to a function as they come."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable

from riverlog.client.received import ReceivedRecord
from riverlog.client.subscription import Subscription
from riverlog.runtime.tasks import Supervisor

OnRecord = Callable[[ReceivedRecord], Awaitable[object] | object]


class AsyncDelivery:
    """A task that gives every record to a function, one after the other, until the end.

    The function may be a coroutine function; what it raises ends the subscription.
    """

    def __init__(
        self, subscription: Subscription, on_record: OnRecord, tasks: Supervisor, name: str
    ) -> None:
        self._subscription = subscription
        self._on_record = on_record
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        tasks.start(name, self._run)

    async def wait(self) -> None:
        """Returns when the subscription has ended; raises what it or the function raised."""
        await asyncio.shield(self._ended)

    async def close(self) -> None:
        """Ends the subscription; a call of the function that is under way is let finish."""
        await self._subscription.close()

    async def __aenter__(self) -> "AsyncDelivery":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self) -> None:
        try:
            async for record in self._subscription:
                result = self._on_record(record)
                if isawaitable(result):
                    await result
        except Exception as error:  # noqa: BLE001 - `wait` raises it where someone listens.
            self._ended.set_exception(error)
            # Nobody has to wait; what is not asked for is not complained about.
            self._ended.exception()
        finally:
            if not self._ended.done():
                self._ended.set_result(None)
            await self._subscription.close()
