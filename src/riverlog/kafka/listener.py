"""A listening socket and the connections it has made."""

import asyncio
import socket

from riverlog.broker.broker import Broker
from riverlog.config import Address, DoorLimits
from riverlog.kafka.apis import Apis
from riverlog.kafka.budget import Budget
from riverlog.kafka.connection import Connection
from riverlog.kafka.flushing import Flushing
from riverlog.runtime.clock import Clock

BACKLOG = 1024
SWEEP_MS = 5_000
POLL_MS = 5


class CannotListen(Exception):
    """The address cannot be listened on; the message names it and the reason."""


class Listener:
    """Accepts Kafka clients on one address until it is closed."""

    def __init__(
        self,
        broker: Broker,
        apis: Apis,
        listen: Address,
        advertise: Address | None,
        limits: DoorLimits,
        clock: Clock,
    ) -> None:
        self._broker = broker
        self._apis = apis
        self._listen = listen
        self._advertise = advertise
        self._limits = limits
        self._clock = clock
        self._budget = Budget(limits)
        self._flushing = Flushing()
        broker.on_committed(self._flushing.flush)
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self.address = listen

    async def open(self) -> None:
        """Listens when it returns; `address` then has the real port. Raises `CannotListen`."""
        loop = asyncio.get_running_loop()
        try:
            listening = _bind(self._listen)
        except OSError as error:
            raise CannotListen(f"cannot listen on {self._listen}: {error.strerror}") from error
        self.address = Address(host=self._listen.host, port=listening.getsockname()[1])
        advertised = self._advertise or self.address
        if advertised.port == 0:
            advertised = Address(host=advertised.host, port=self.address.port)
        self._server = await loop.create_server(
            lambda: Connection(
                self._broker,
                self._apis,
                advertised,
                self._limits,
                self._budget,
                self._flushing,
                self._connections,
            ),
            sock=listening,
            backlog=BACKLOG,
        )

    async def sweep(self) -> None:
        """Closes connections that have been idle for too long, for as long as it runs."""
        while True:
            await self._clock.sleep_ms(SWEEP_MS)
            now_ms = self._clock.monotonic_ms()
            for connection in list(self._connections):
                if connection.has_asked:
                    connection.has_asked = False
                    connection.idle_since_ms = now_ms
                elif now_ms - connection.idle_since_ms > self._limits.idle_ms_max:
                    connection.finish()

    async def close(self) -> None:
        """Accepts nobody more, lets requests under way finish, then ends every connection."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._connections):
            connection.finish()
        deadline_ms = self._clock.monotonic_ms() + self._limits.shutdown_ms_max
        while self._connections and self._clock.monotonic_ms() < deadline_ms:
            await self._clock.sleep_ms(POLL_MS)
        for connection in list(self._connections):
            connection.abort()
        self._server = None


def _bind(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address.host, address.port))
    except OSError:
        listening.close()
        raise
    return listening
