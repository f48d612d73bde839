"""A listener whose handlers a test writes itself, and a client that speaks in raw frames."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

from riverlog.broker.broker import Broker, World
from riverlog.config import Address, DoorLimits
from riverlog.kafka.apis import Api, Apis, Context, served
from riverlog.kafka.listener import Listener
from riverlog.protocol.api_keys import ApiKey, tables
from riverlog.protocol.headers import read_response, request_frame
from riverlog.runtime.chance import SystemChance
from riverlog.runtime.clock import SystemClock
from riverlog.stores.syncer import InlineSyncer
from riverlog.testing.simulated_disk import SimulatedDisk

Handle = Callable[[Any, Context], Any]


async def memory_broker() -> Broker:
    """A broker whose disk is in memory."""
    disk = SimulatedDisk(Random(1))
    disk.make_directory("data")
    report: list[object] = []
    world = World(disk, InlineSyncer(), SystemClock(), SystemChance(), report.append)
    return await Broker.open(world, "data")


@asynccontextmanager
async def listening(
    limits: DoorLimits | None = None, **handlers: Handle
) -> AsyncIterator[Listener]:
    """A listener on a free port; `produce=…` and the like take the place of real handlers."""
    apis: Apis = served()
    for name, handle in handlers.items():
        key = ApiKey[name.upper()]
        real = apis[key]
        apis[key] = Api(key, (real.first, real.last), handle, overlaps=real.overlaps)
    listener = Listener(
        await memory_broker(),
        apis,
        Address(host="127.0.0.1", port=0),
        None,
        limits or DoorLimits(),
        SystemClock(),
    )
    await listener.open()
    try:
        yield listener
    finally:
        await listener.close()


class RawClient:
    """Sends requests without waiting for replies, and reads replies as they come."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, listener: Listener) -> "RawClient":
        address = listener.address
        return cls(*await asyncio.open_connection(address.host, address.port))

    def send(self, request: Any, version: int, correlation_id: int = 0) -> None:
        self.writer.write(b"".join(request_frame(request, version, correlation_id, "test")))

    async def receive(self, request: Any, version: int) -> tuple[int, Any]:
        """The next reply, read as one to `request`: correlation id and message."""
        length = int.from_bytes(await self.reader.readexactly(4), "big")
        frame = await self.reader.readexactly(length)
        _, response = tables(ApiKey(request.API_KEY))
        return read_response(request, version, frame, response)

    async def ask(self, request: Any, version: int) -> Any:
        self.send(request, version)
        return (await self.receive(request, version))[1]

    async def is_cut_off(self) -> bool:
        """Whether the broker closes the connection without another word, within a second."""
        try:
            return await asyncio.wait_for(self.reader.read(1), 1) == b""
        except TimeoutError:
            return False
        except ConnectionError:
            return True

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()
