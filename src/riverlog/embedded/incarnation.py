"""One run of an embedded broker, from its start to its stop or its crash."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from riverlog.app import App
from riverlog.cluster.topics import TopicExists
from riverlog.config import Address
from riverlog.embedded.loop_thread import LoopThread
from riverlog.settings.sources import Settings
from riverlog.stores.data_directory import make_durable_directory
from riverlog.stores.directory_lock import DirectoryLock
from riverlog.stores.disk import OsDisk
from riverlog.stores.memory_disk import MemoryDisk
from riverlog.testing.severable_disk import SeverableDisk
from riverlog.testing.shifted_clock import ShiftedClock

if TYPE_CHECKING:
    from riverlog.testing.faults import Faults

# Where a broker in memory has its data on its disk.
MEMORY_PATH = "/data"

# What was woken starts at the next turn of the loop, what it wakes in turn at the one after; and a
# client that has connected by now is accepted.
TURNS = 5

# Time passes in so many steps, so that what is done every so often is done more than once, and
# what must happen before something else does.
STEPS = 100


class Plan(NamedTuple):
    """What every run of a broker has in common; without a directory, data are in `memory`."""

    settings: Settings
    data: str | None
    memory: MemoryDisk
    clock: ShiftedClock


class Incarnation:
    """A running broker; it serves once it is made, and is of no use after `stop` or `crash`."""

    def __init__(self, plan: Plan, listen: Address) -> None:
        """Raises what `App.open` raises, and leaves nothing behind then."""
        self._plan = plan
        self._lock: DirectoryLock | None = None
        self._faults: Faults | None = None
        self._disk = SeverableDisk(plan.memory if plan.data is None else OsDisk())
        self._app = App(
            data=plan.data or MEMORY_PATH,
            listen=listen,
            limits=plan.settings.limits(),
            settings=plan.settings.broker(),
            defaults=plan.settings.log_defaults(),
            disk=self._disk,
            in_memory=plan.data is None,
            clock=plan.clock,
        )
        if plan.data is not None:
            make_durable_directory(self._disk, plan.data)
            self._lock = DirectoryLock(plan.data)
        self._thread = LoopThread(f"riverlog-broker-{listen.port}")
        self._served = dict(self._app.apis)
        try:
            self._thread.run(self._app.open())
        except BaseException:
            self._end()
            raise

    @property
    def leader_epoch(self) -> int:
        """Rises with every start."""
        return self._app.broker.leader_epoch

    def create_topic(self, name: str, partitions: int | None, configs: Mapping[str, str]) -> None:
        broker = self._app.broker
        count = broker.settings.num_partitions if partitions is None else partitions
        self._thread.run(broker.create_topic(name, count, configs))

    def ensure_topic(self, name: str, partitions: int) -> None:
        """Makes a topic if there is none of this name."""
        with suppress(TopicExists):
            self.create_topic(name, partitions, {})

    def install(self, faults: "Faults") -> None:
        """Has exactly these faults from now on."""

        self._faults = faults

        async def install() -> None:
            faults.install_in(self._app.apis, self._served)

        self._thread.run(install())

    def drop_connections(self) -> None:
        """Breaks every connection there is."""

        async def drop() -> None:
            self._app.drop_connections()

        self._thread.run(drop())

    def advance(self, duration_ms: int) -> None:
        async def advance() -> None:
            clock, done_ms = self._plan.clock, 0
            for step in range(1, STEPS + 1):
                step_ms = duration_ms * step // STEPS - done_ms
                clock.advance_ms(step_ms)
                done_ms += step_ms
                for _ in range(TURNS):
                    await clock.sleep_ms(0)

        self._thread.run(advance())

    def descriptors(self) -> list[int]:
        """The sockets it has open."""
        return self._app.descriptors()

    def stop(self) -> None:
        """Answers what was asked, makes everything durable, and is gone; raises `OSError`."""

        async def stop() -> None:
            if self._faults is not None:
                self._faults.let_go()
            await self._app.close()

        try:
            self._thread.run(stop())
        finally:
            self._end()

    def crash(self) -> None:
        """Is gone; from the first moment on nothing is written or answered any more."""

        async def crash() -> None:
            self._disk.sever()
            self._app.cut_off()
            # Only to end threads and tasks: it has nothing left to write to or to tell.
            with suppress(OSError):
                await self._app.close()

        try:
            self._thread.run(crash())
        finally:
            self._end()

    def _end(self) -> None:
        self._thread.stop()
        self._disk.close_files()
        if self._lock is not None:
            self._lock.release()
