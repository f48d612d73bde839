"""A listening socket and the connections it has made."""

import asyncio
import select
import socket

from riverlog.broker.broker import JOURNAL_SHARE, OPEN_FILES_MAX, Broker
from riverlog.config import Address, DoorLimits
from riverlog.kafka.apis import Apis
from riverlog.kafka.budget import Budget
from riverlog.kafka.connection import Connection
from riverlog.kafka.flushing import Flushing
from riverlog.kafka.lanes import Lanes
from riverlog.runtime.clock import Clock
from riverlog.runtime.open_files import open_files_max

# How many may wait to be accepted, and how many are before anything else is done.
BACKLOG = 1024
ACCEPTED_AT_ONCE = 16
SWEEP_MS = 5_000
# How soon the system finds out that the machine of a silent client is gone.
KEEPALIVE_IDLE_S = 120
# What the log may have open, beside what it keeps at hand: the journal, a segment about to be.
LOG_FILES = OPEN_FILES_MAX + 64
CONNECTIONS_MIN = 64
POLL_MS = 5
# Closing, as far as the system tells; that the connection is broken it tells anyway.
HUNG_UP = getattr(select, "POLLRDHUP", 0)

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
        *,
        has_express: bool = True,
    ) -> None:
        self._broker = broker
        self._apis = apis
        self._listen = listen
        self._advertise = advertise
        self._limits = limits = within_open_files(limits)
        self._clock = clock
        self._budget = Budget(limits)
        self._flushing = Flushing()
        self._lanes = Lanes(broker, limits, self._budget, self._flushing, is_wanted=has_express)
        broker.on_committed(self._flushing.expect, self._flushing.flush)
        broker.opening.rest_s = self._budget.opening_rest_s
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
                self._lanes.current,
            ),
            sock=listening,
            # asyncio takes this number for both; the system is then told the larger one.
            backlog=ACCEPTED_AT_ONCE,
        )
        listening.listen(BACKLOG)

    @property
    def express_count(self) -> int:
        """How many requests were taken together with others, in the express lane."""
        return self._lanes.taken_count

    async def sweep(self) -> None:
        """Closes connections that were idle for too long or left by clients, while it runs."""
        while True:
            await self._clock.sleep_ms(min(SWEEP_MS, self._limits.idle_ms_max))
            now_ms = self._clock.monotonic_ms()
            self._lanes.note_who_asked()
            for connection in list(self._connections):
                if connection.has_asked:
                    connection.has_asked = False
                    connection.idle_since_ms = now_ms
                elif has_hung_up(connection.descriptor):
                    # It is not read from while a request of it waits, so nobody else notices.
                    connection.abort()
                elif now_ms - connection.idle_since_ms > self._limits.idle_ms_max:
                    if connection.has_unread:
                        connection.abort()
                    else:
                        connection.finish()

    def descriptors(self) -> list[int]:
        """What it has open: its own socket, one for every connection, and its lanes'."""
        listening = [] if self._server is None else [s.fileno() for s in self._server.sockets]
        connected = [connection.descriptor for connection in self._connections]
        return listening + connected + self._lanes.descriptors()

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
        self._lanes.close()
        self._server = None

    def _stop_accepting(self) -> None:
        """Lets those who connect wait; closing the server ends their wait."""
        if self._server is not None:
            for listening in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listening.fileno())


def has_hung_up(descriptor: int) -> bool:
    """Whether the other end of a socket is gone, whatever it has left to be read."""
    if descriptor < 0:
        return False
    polling = select.poll()
    polling.register(descriptor, HUNG_UP)
    return bool(polling.poll(0))


def within_open_files(limits: DoorLimits) -> DoorLimits:
    """The limits, with as many connections as leave the log the files it needs."""
    files = open_files_max()
    room = max(files - files // JOURNAL_SHARE - LOG_FILES, CONNECTIONS_MIN)
    return limits._replace(connections_max=min(limits.connections_max, room))


def bound_socket(address: Address) -> socket.socket:
    """A socket that has the address and does not listen yet; raises `CannotListen`."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Whoever is accepted has these, too.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE"):
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_IDLE_S)
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise CannotListen(f"cannot listen on {address}: {error.strerror}") from error
    return listening
