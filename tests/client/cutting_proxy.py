"""A network that breaks: connections pass through, and are cut after some bytes, either way."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random


class CuttingProxy:
    """Forwards a port to another. Every connection carries a random number of bytes, then ends.

    What is cut off may have arrived or not, on the way there or on the way back.
    """

    def __init__(self, random: Random, bytes_max: int) -> None:
        self._random = random
        self._bytes_max = bytes_max
        self.target_port = 0
        self.port = 0
        self.cut_count = 0

    async def serve(self, stop: asyncio.Event, started: threading.Event) -> None:
        server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        async with server:
            await stop.wait()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                there = await asyncio.open_connection("127.0.0.1", self.target_port)
                left = [self._random.randrange(self._bytes_max)]
                pumps = [
                    asyncio.ensure_future(self._pump(reader, there[1], left)),
                    asyncio.ensure_future(self._pump(there[0], writer, left)),
                ]
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                for pump in pumps:
                    pump.cancel()
                await asyncio.wait(pumps)
                there[1].transport.abort()
        finally:
            writer.transport.abort()

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, left: list[int]
    ) -> None:
        with suppress(OSError):
            while data := await source.read(4096):
                target.write(data[: left[0]])
                left[0] -= len(data)
                await target.drain()
                if left[0] <= 0:
                    self.cut_count += 1
                    return


@contextmanager
def cutting_proxy(seed: int, bytes_max: int) -> Iterator[CuttingProxy]:
    """A running proxy; say where it leads by its `target_port`."""
    proxy = CuttingProxy(Random(seed), bytes_max)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    started = threading.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(proxy.serve(stop, started),))
    thread.start()
    started.wait(10)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.close()
