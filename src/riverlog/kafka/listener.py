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

# asyncio takes so long to make a connection of a socket it has accepted; one that finds its server
# closed by then is left open.
ACCEPTING_TURNS = 3


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
        listening = bound_socket(self._listen)
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

    def descriptors(self) -> list[int]:
        """The sockets it has open: its own, and one for every connection."""
        listening = [] if self._server is None else [s.fileno() for s in self._server.sockets]
        return listening + [connection.descriptor for connection in self._connections]

    def cut_off(self) -> None:
        """Accepts nobody more and breaks every connection at once, whatever was asked there."""
        self._stop_accepting()
        self.drop_connections()

    def drop_connections(self) -> None:
        """Breaks every connection there is at once; clients may come back."""
        for connection in list(self._connections):
            connection.abort()

    async def close(self) -> None:
        """Accepts nobody more, lets requests under way finish, then ends every connection."""
        if self._server is None:
            return
        self._stop_accepting()
        for _ in range(ACCEPTING_TURNS):
            await self._clock.sleep_ms(0)
        self._server.close()
        for connection in list(self._connections):
            connection.finish()
        deadline_ms = self._clock.monotonic_ms() + self._limits.shutdown_ms_max
        while self._connections and self._clock.monotonic_ms() < deadline_ms:
            await self._clock.sleep_ms(POLL_MS)
        self.drop_connections()
        self._server = None

    def _stop_accepting(self) -> None:
        """Lets those who connect wait; closing the server ends their wait."""
        if self._server is not None:
            for listening in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listening.fileno())


def bound_socket(address: Address) -> socket.socket:
    """A socket that has the address and does not listen yet; raises `CannotListen`."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise CannotListen(f"cannot listen on {address}: {error.strerror}") from error
    return listening
