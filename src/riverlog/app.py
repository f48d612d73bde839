"""Wiring: one broker, its doors and its background work, put together and taken apart."""

import os

from riverlog import __version__
from riverlog.broker.broker import DATA_NAMES, Broker, World
from riverlog.config import Address, BrokerSettings, DoorLimits
from riverlog.groups.settings import GroupSettings
from riverlog.kafka.apis import served
from riverlog.kafka.listener import Listener
from riverlog.log.damage import Damage
from riverlog.log.settings import LogSettings
from riverlog.runtime.chance import SystemChance
from riverlog.runtime.clock import Clock, SystemClock
from riverlog.runtime.logs import get
from riverlog.runtime.tasks import Supervisor
from riverlog.stores.data_directory import make_durable_directory, open_data_directory
from riverlog.stores.directory_lock import DirectoryLock
from riverlog.stores.disk import Disk, OsDisk
from riverlog.stores.disk_space import disk_space, unknown_space
from riverlog.stores.syncer import AdaptiveSyncer, InlineSyncer

log = get(__name__)


class App:
    """A whole broker in the running event loop.

    Without a `disk` it is this machine's, and the data directory is locked against other
    processes; whoever brings a disk sees to it that nobody else uses it, and says whether it is
    `in_memory`, where syncs cost nothing.
    """

    def __init__(
        self,
        *,
        data: str,
        listen: Address,
        advertise: Address | None = None,
        limits: DoorLimits | None = None,
        settings: BrokerSettings | None = None,
        group_settings: GroupSettings | None = None,
        defaults: LogSettings | None = None,
        disk: Disk | None = None,
        in_memory: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self._data = os.path.abspath(data)
        self._lock: DirectoryLock | None = None
        self._listen = listen
        self._advertise = advertise
        self._limits = limits or DoorLimits()
        self._settings = settings or BrokerSettings()
        self._group_settings = group_settings or GroupSettings()
        self._defaults = defaults or LogSettings()
        self._disk = disk
        self._in_memory = in_memory
        self._clock = clock or SystemClock()
        self._chance = SystemChance()
        self._tasks = Supervisor(self._clock, self._chance)
        self._broker: Broker | None = None
        self._listener: Listener | None = None
        self._is_cut_off = False
        self.apis = served()

    @property
    def address(self) -> Address:
        """Where clients reach it, with the real port once it is open."""
        assert self._listener is not None, "open it first"
        return self._listener.address

    @property
    def broker(self) -> Broker:
        """What it serves, while it is open."""
        assert self._broker is not None, "open it first"
        return self._broker

    async def open(self) -> None:
        """Serves clients when it returns.

        Raises `NotADataDirectory`, `UnknownFormat`, `AlreadyInUse`, `CannotListen` or `OSError`
        when it cannot; nothing is left running then.
        """
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise

    async def _open(self) -> None:
        disk = self._disk or OsDisk()
        make_durable_directory(disk, self._data)
        if self._disk is None:
            self._lock = DirectoryLock(self._data)
        directory = open_data_directory(
            disk, self._data, made_by=f"riverlog {__version__}", data_names=DATA_NAMES
        )
        for finding in directory.findings:
            log.warning("damage found", path=finding.path, reason=finding.told)
        world = World(
            disk,
            InlineSyncer() if self._in_memory else AdaptiveSyncer(),
            self._clock,
            self._chance,
            _report,
            self._trouble,
            has_costly_syncs=not self._in_memory,
            space=unknown_space if self._in_memory else disk_space,
        )
        self._broker = await Broker.open(
            world, self._data, self._defaults, self._settings, self._group_settings
        )
        listener = Listener(
            self._broker, self.apis, self._listen, self._advertise, self._limits, self._clock
        )
        await listener.open()
        self._listener = listener
        self._tasks.start("close idle connections", listener.sweep)
        self._tasks.start("retention", self._broker.housekeeping.run)
        log.info("listening", address=str(self.address))

    def descriptors(self) -> list[int]:
        """The sockets it has open."""
        return [] if self._listener is None else self._listener.descriptors()

    def drop_connections(self) -> None:
        """Breaks every connection; clients may come back at once."""
        if self._listener is not None:
            self._listener.drop_connections()

    def cut_off(self) -> None:
        """Breaks every connection and accepts no more, as if the process were gone."""
        self._is_cut_off = True
        if self._listener is not None:
            self._listener.cut_off()

    async def close(self) -> None:
        """Answers what was asked, makes everything durable, then stops."""
        try:
            if self._broker is not None:
                self._broker.stop_waiting()
            if self._listener is not None:
                await self._listener.close()
            await self._tasks.close()
            if self._broker is not None:
                await self._broker.close()
                self._broker = None
                log.info("stopped")
        finally:
            if self._lock is not None:
                self._lock.release()

    def _trouble(self, directory: str, error: OSError) -> None:
        if not self._is_cut_off:
            log.warning("the disk refuses records", directory=directory, reason=error.strerror)


def _report(damage: Damage) -> None:
    log.warning(
        "damage found",
        path=damage.path,
        position=damage.position,
        size_bytes=damage.size_bytes,
        reason=damage.reason,
        kept_in=damage.kept_in,
    )
