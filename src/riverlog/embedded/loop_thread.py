"""An event loop in a thread of its own, and ways to have things done there."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs a loop from the moment it is made until `stop`.

    The thread does not keep the process alive: one that forgot it can still end.
    """

    def __init__(self, name: str) -> None:
        running: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = Thread(target=self._run, args=(running,), name=name, daemon=True)
        self._thread.start()
        self._loop = running.result()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Has the coroutine run there, and gives its result or raises what it raises."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """Nothing runs there any more when it returns; what was under way was cancelled."""
        self._loop.call_soon_threadsafe(self._told_to_stop.set)
        self._thread.join()

    def _run(self, running: "Future[asyncio.AbstractEventLoop]") -> None:
        async def until_stopped() -> None:
            self._told_to_stop = asyncio.Event()
            running.set_result(asyncio.get_running_loop())
            await self._told_to_stop.wait()

        asyncio.run(until_stopped())


async def in_thread(work: Callable[[], T]) -> T:
    """Runs `work`, which may block, in a thread that is gone when this returns."""
    ended: Future[T] = Future()

    # From now on nobody can cancel it: what was begun is finished.
    ended.set_running_or_notify_cancel()

    def run() -> None:
        try:
            ended.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited.
            ended.set_exception(error)

    thread = Thread(target=run, name="riverlog-waiting", daemon=True)
    thread.start()
    try:
        return await asyncio.wrap_future(ended)
    finally:
        thread.join()
