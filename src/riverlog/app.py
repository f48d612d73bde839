"""Wiring: one broker, its doors and its background work, put together and taken apart."""

import os

from riverlog import __version__
from riverlog.broker.broker import DATA_NAMES, Broker, World
from riverlog.config import Address, BrokerSettings, DoorLimits
from riverlog.kafka.apis import served
from riverlog.kafka.listener import Listener
from riverlog.log.damage import Damage
from riverlog.log.settings import LogSettings
from riverlog.runtime.chance import SystemChance
from riverlog.runtime.clock import SystemClock
from riverlog.runtime.logs import get
from riverlog.runtime.tasks import Supervisor
from riverlog.stores.data_directory import make_durable_directory, open_data_directory
from riverlog.stores.directory_lock import DirectoryLock
from riverlog.stores.disk import OsDisk
from riverlog.stores.syncer import AdaptiveSyncer

log = get(__name__)


class App:
    """A whole broker in the running event loop."""

    def __init__(
        self,
        *,
        data: str,
        listen: Address,
        advertise: Address | None = None,
        limits: DoorLimits | None = None,
        settings: BrokerSettings | None = None,
        defaults: LogSettings | None = None,
    ) -> None:
        self._data = os.path.abspath(data)
        self._lock: DirectoryLock | None = None
        self._listen = listen
        self._advertise = advertise
        self._limits = limits or DoorLimits()
        self._settings = settings or BrokerSettings()
        self._defaults = defaults or LogSettings()
        self._clock = SystemClock()
        self._chance = SystemChance()
        self._tasks = Supervisor(self._clock, self._chance)
        self._broker: Broker | None = None
        self._listener: Listener | None = None

    @property
    def address(self) -> Address:
        """Where clients reach it, with the real port once it is open."""
        assert self._listener is not None, "open it first"
        return self._listener.address

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
        disk = OsDisk()
        make_durable_directory(disk, self._data)
        self._lock = DirectoryLock(self._data)
        directory = open_data_directory(
            disk, self._data, made_by=f"riverlog {__version__}", data_names=DATA_NAMES
        )
        for finding in directory.findings:
            log.warning("damage found", path=finding.path, reason=finding.told)
        world = World(disk, AdaptiveSyncer(), self._clock, self._chance, _report, _trouble)
        self._broker = await Broker.open(world, self._data, self._defaults, self._settings)
        listener = Listener(
            self._broker, served(), self._listen, self._advertise, self._limits, self._clock
        )
        await listener.open()
        self._listener = listener
        self._tasks.start("close idle connections", listener.sweep)
        log.info("listening", address=str(self.address))

    async def close(self) -> None:
        """Answers what was asked, makes everything durable, then stops."""
        if self._broker is not None:
            self._broker.stop_waiting()
        if self._listener is not None:
            await self._listener.close()
        await self._tasks.close()
        if self._broker is not None:
            await self._broker.close()
            self._broker = None
            log.info("stopped")
        if self._lock is not None:
            self._lock.release()


def _report(damage: Damage) -> None:
    log.warning(
        "damage found",
        path=damage.path,
        position=damage.position,
        size_bytes=damage.size_bytes,
        reason=damage.reason,
        kept_in=damage.kept_in,
    )


def _trouble(directory: str, error: OSError) -> None:
    log.warning("the disk refuses records", directory=directory, reason=error.strerror)
