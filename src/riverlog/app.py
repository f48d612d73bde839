"""Wiring: one broker, its doors and its background work, put together and taken apart."""

import os

from riverlog.broker.broker import Broker, World
from riverlog.config import Address, DoorLimits
from riverlog.kafka.apis import served
from riverlog.kafka.listener import Listener
from riverlog.log.damage import Damage
from riverlog.log.settings import LogSettings
from riverlog.runtime.chance import SystemChance
from riverlog.runtime.clock import SystemClock
from riverlog.runtime.logs import get
from riverlog.runtime.tasks import Supervisor
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
        settings: LogSettings | None = None,
    ) -> None:
        self._data = os.path.abspath(data)
        self._listen = listen
        self._advertise = advertise
        self._limits = limits or DoorLimits()
        self._settings = settings or LogSettings()
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
        """Serves clients when it returns. Raises what opening the directory or the port raise."""
        disk = OsDisk()
        disk.make_directory(self._data)
        world = World(disk, AdaptiveSyncer(), self._clock, self._chance, _report)
        self._broker = await Broker.open(world, self._data, self._settings)
        self._listener = Listener(
            self._broker, served(), self._listen, self._advertise, self._limits, self._clock
        )
        await self._listener.open()
        self._tasks.start("close idle connections", self._listener.sweep)
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
        log.info("stopped")


def _report(damage: Damage) -> None:
    log.warning(
        "damage found",
        path=damage.path,
        position=damage.position,
        size_bytes=damage.size_bytes,
        reason=damage.reason,
        kept_in=damage.kept_in,
    )
