"""An event loop in a thread of its own, for callers that have none."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from riverlog.client.errors import Closed, InvalidArgument

T = TypeVar("T")

STOP_S_MAX = 10


class LoopThread:
    """Runs coroutines for any thread; they all run in one loop, so that it alone has the state."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        # Guards only the moment of closing: whatever was handed over before is run or cancelled.
        self._handing_over = threading.Lock()
        self._is_closed = False
        # A daemon: a program that forgets to close its client still ends.
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives. Whoever interrupts the wait (Ctrl-C) cancels it."""
        future = self._submit(work)
        try:
            return future.result()
        except CancelledError:
            raise Closed("the client is closed") from None
        except BaseException:
            future.cancel()
            raise

    def call(self, act: Callable[..., object], *arguments: object) -> None:
        """Calls something in the loop, soon; raises `Closed` once there is none."""
        with self._handing_over:
            if self._is_closed:
                raise Closed("the client is closed")
            self._loop.call_soon_threadsafe(act, *arguments)

    def close(self) -> None:
        """Ends the loop and its thread; what still runs in it is cancelled."""
        with self._handing_over:
            if self._is_closed:
                return
            self._is_closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_S_MAX)
        # Once more around, so that what was handed over last becomes a task to cancel.
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left))
        self._loop.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidArgument("a callback of a future cannot wait for the client itself")
        with self._handing_over:
            if self._is_closed:
                work.close()
                raise Closed("the client is closed")
            return asyncio.run_coroutine_threadsafe(work, self._loop)
