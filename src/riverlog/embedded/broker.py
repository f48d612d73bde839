"""`riverlog.Broker`: a whole broker in a thread of the process that uses it."""

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from riverlog.config import Address, parse_address
from riverlog.embedded.forks import not_for_children
from riverlog.embedded.incarnation import Incarnation, Plan
from riverlog.embedded.keywords import Value, settings_from
from riverlog.embedded.loop_thread import in_thread
from riverlog.embedded.port import HeldPort
from riverlog.stores.memory_disk import MemoryDisk
from riverlog.testing.shifted_clock import ShiftedClock

if TYPE_CHECKING:
    from riverlog.client.async_client import AsyncClient
    from riverlog.client.sync_client import Client
    from riverlog.testing.faults import Faults


class NotRunning(Exception):
    """The broker was stopped or has crashed; `start` brings it back."""


class Broker:
    """A broker in memory, or in the directory `data`, on a free port of the loopback address.

    Runs while a `with` or `async with` block does, or from `start` to `stop`, in a thread and an
    event loop of its own. `topics` are made at its first start. Settings are keyword arguments
    with the names of the flags of `riverlog serve`: `num_partitions=1`, `message_max_bytes=…`.

    The methods may be called from any thread, by one at a time. They block for the few
    milliseconds they take, also in async code: the broker does not need the caller's loop.
    """

    def __init__(
        self,
        *,
        data: str | os.PathLike[str] | None = None,
        listen: str = "127.0.0.1:0",
        topics: Mapping[str, int] | None = None,
        **settings: Value,
    ) -> None:
        """Starts nothing yet; raises `InvalidAddress` or `InvalidSetting`."""
        self._listen = parse_address(listen)
        self._topics = dict(topics or {})
        self._plan = Plan(
            settings=settings_from(settings),
            data=None if data is None else os.path.abspath(data),
            memory=MemoryDisk(),
            clock=ShiftedClock(),
        )
        self._port: HeldPort | None = None
        self._running: Incarnation | None = None
        self._faults: Faults | None = None
        not_for_children(self)

    # What clients need.

    @property
    def address(self) -> Address:
        """Host and port, the same ones after every restart."""
        if self._port is None:
            raise NotRunning("the broker was not started; use it in a `with` block")
        return self._port.address

    @property
    def bootstrap(self) -> str:
        """What clients are given to find it, "HOST:PORT"."""
        return str(self.address)

    def connect(self, **options: Any) -> "Client":  # checked where they are taken
        """A client of this broker; see `riverlog.connect` for its options."""
        from riverlog.client.sync_client import connect

        return connect(self.bootstrap, **options)

    def connect_async(self, **options: Any) -> "AbstractAsyncContextManager[AsyncClient]":
        """A client of this broker for an `async with`; see `riverlog.connect_async`."""
        from riverlog.client.async_client import connect_async

        return connect_async(self.bootstrap, **options)

    def create_topic(
        self,
        name: str,
        partitions: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Makes a topic; without a number it gets `num_partitions` partitions.

        Raises `TopicExists`, `InvalidTopicName`, `InvalidPartitionCount` or `InvalidConfig`.
        """
        self.running.create_topic(name, partitions, configs or {})

    # What tests do to it.

    @property
    def faults(self) -> "Faults":
        """What shall go wrong; see `riverlog.testing.faults`."""
        if self._faults is None:
            from riverlog.testing.faults import Faults

            self._faults = Faults(self)
        return self._faults

    def advance(self, duration_ms: int) -> None:
        """Lets time pass for the broker; what is due by then has begun when it returns.

        It passes in small steps, so that what is done every so often is done again and again.
        The clock goes on from there, across restarts too. Clients have clocks of their own.
        """
        self.running.advance(duration_ms)

    def crash(self) -> None:
        """Ends it as `kill -9` would: connections break, nothing more is written or answered.

        What was written stays, in memory too; `start` then finds what a process would have found.
        """
        running, self._running = self.running, None
        running.crash()

    # Start and end.

    @property
    def is_running(self) -> bool:
        """Whether clients can be served."""
        return self._running is not None

    @property
    def running(self) -> Incarnation:
        """The broker of the present start; raises `NotRunning`."""
        if self._running is None:
            raise NotRunning("the broker is not running; `start` it")
        return self._running

    def start(self) -> "Broker":
        """Serves clients when it returns; nothing happens if it does already.

        Raises `CannotListen`, `NotADataDirectory`, `UnknownFormat`, `AlreadyInUse`,
        `StorageFailed` or `OSError`; nothing is left behind then.
        """
        if self._running is not None:
            return self
        is_first = self._port is None
        if self._port is None:
            self._port = HeldPort(self._listen)
        try:
            running = Incarnation(self._plan, self._port.address)
            self._running = running
            if is_first:
                for name, partitions in self._topics.items():
                    running.ensure_topic(name, partitions)
            if self._faults is not None:
                running.install(self._faults)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Answers what was asked, and leaves nothing behind; the port is free for others then.

        Data in memory are kept until the object is dropped: `start` finds them again.
        """
        running, self._running = self._running, None
        try:
            if running is not None:
                running.stop()
        finally:
            if self._port is not None:
                self._port.release()
                self._port = None

    def restart(self) -> None:
        """Stops it cleanly, if it runs, and starts it again, on the same port and data."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()
        self.start()

    def disown(self) -> list[int]:
        """Forgets the broker that runs: this is a forked process, and it runs in the parent."""
        running, self._running = self._running, None
        held = [] if self._port is None else [self._port.descriptor]
        return held if running is None else held + running.descriptors()

    def __enter__(self) -> "Broker":
        return self.start()

    def __exit__(self, *raised: object) -> None:
        self.stop()

    async def __aenter__(self) -> "Broker":
        try:
            return await in_thread(self.start)
        except BaseException:
            # Whoever was cancelled meanwhile never comes to the end of the block.
            self.stop()
            raise

    async def __aexit__(self, *raised: object) -> None:
        await in_thread(self.stop)
