"""Reading a topic without asyncio: a plain iterator, or a thread that calls back."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

from riverlog.client.errors import Closed, TimedOut
from riverlog.client.loop_thread import LoopThread
from riverlog.client.received import ReceivedRecord
from riverlog.client.source import Rebalance
from riverlog.client.subscription import Subscription


class SyncSubscription:
    """Records as they come: `for record in subscription`.

    Where it begins is fixed when it is made. It ends when its count or end is reached, after its
    timeout, or when it is closed; `with` closes it.
    """

    def __init__(
        self,
        loop: LoopThread,
        subscription: Subscription,
        on_rebalance: Callable[[Rebalance], object] | None = None,
    ) -> None:
        self._loop = loop
        self._subscription = subscription
        self._on_rebalance = on_rebalance
        self._chunk: Iterator[ReceivedRecord] = iter(())
        self._given: ReceivedRecord | None = None

    def __iter__(self) -> "SyncSubscription":
        return self

    def __next__(self) -> ReceivedRecord:
        if self._given is not None:
            self._subscription.finished(self._given)
            self._given = None
        record = None if self._subscription.is_stale else next(self._chunk, None)
        if record is None:
            # A whole chunk crosses over at once: a hand-over costs as much as decoding 50 records.
            self._chunk = iter(self._next_chunk())
            record = next(self._chunk, None)
            if record is None:
                raise StopIteration
        self._given = record
        return record

    def __enter__(self) -> "SyncSubscription":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def chunks(self) -> Iterator[list[ReceivedRecord]]:
        """The same records, in lists: all that are there when more are asked for."""
        while records := self._next_chunk():
            yield records
            for record in records:
                self._subscription.finished(record)

    def close(self) -> None:
        """Reads no more; may be called twice, and from any thread."""
        with suppress(Closed):
            self._loop.run(self._subscription.close())

    def _next_chunk(self) -> list[ReceivedRecord]:
        while isinstance(chunk := self._loop.run(self._subscription.chunk()), Rebalance):
            # In the thread of whoever reads: there it may ask the client for anything.
            if self._on_rebalance is not None:
                self._on_rebalance(chunk)
        return chunk


class Delivery:
    """A thread that gives every record to a function, until the subscription ends."""

    def __init__(
        self, subscription: SyncSubscription, on_record: Callable[[ReceivedRecord], object]
    ) -> None:
        self._subscription = subscription
        self._on_record = on_record
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="riverlog-delivery", daemon=True)
        self._thread.start()

    def wait(self, timeout_ms: int | None = None) -> None:
        """Returns when the subscription has ended; raises what it or the function raised.

        Raises `TimedOut` when it still runs after the timeout.
        """
        self._thread.join(None if timeout_ms is None else timeout_ms / 1000)
        if self._thread.is_alive():
            raise TimedOut("the subscription still runs")
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Ends the subscription and waits for the function to return, if it is being called."""
        self._subscription.close()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> "Delivery":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            for record in self._subscription:
                self._on_record(record)
        except Closed:
            # Closing the client is one way to end it.
            return
        except BaseException as error:  # noqa: BLE001 - `wait` raises it where someone listens.
            self._failure = error
            self._subscription.close()
