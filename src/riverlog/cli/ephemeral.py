"""`riverlog serve` for tests in any language: in memory, on a free port, gone with its parent."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import NamedTuple

from riverlog.cli.arguments import Parser
from riverlog.cli.refusals import Refused
from riverlog.config import Address
from riverlog.settings.declaration import DECLARED
from riverlog.settings.sources import DEFAULT, Settings
from riverlog.stores.disk import Disk

# Where topics are kept on a disk in memory.
_PATH = "/data"
_CHUNK_BYTES = 4096


class Place(NamedTuple):
    """Where a broker keeps its topics and waits for clients; without a disk, on this machine's."""

    data: str
    listen: Address
    disk: Disk | None


def add_test_flags(parser: Parser) -> None:
    """Adds what only tests need; these are no settings."""
    group = parser.add_argument_group("for tests, in any language")
    group.add_argument(
        "--ephemeral",
        action="store_true",
        help="keep everything in memory, and listen on a free port unless --listen names one",
    )
    group.add_argument(
        "--print-bootstrap",
        action="store_true",
        help="print HOST:PORT, and nothing else, on standard output when clients can come",
    )
    group.add_argument(
        "--until-stdin-closes",
        action="store_true",
        help="stop also when standard input is closed, as it is when whoever started this ends",
    )


def place_of(options: argparse.Namespace, settings: Settings) -> Place:
    """What the flags and settings come to; raises `Refused` when they contradict each other."""
    data, listen = settings.chosen["riverlog.data"], settings.address("riverlog.listen")
    assert listen is not None, "it has a default"
    if not options.ephemeral:
        if not data.value:
            raise Refused("where shall topics be kept? Say --data DIR, or set RIVERLOG_DATA")
        return Place(str(data.value), listen, None)
    if data.source == DECLARED["riverlog.data"].flag:
        raise Refused("--ephemeral keeps everything in memory; leave out --data, or that")
    if settings.chosen["riverlog.listen"].source == DEFAULT:
        listen = Address(listen.host, 0)
    # Most brokers have a disk.
    from riverlog.stores.memory_disk import MemoryDisk

    return Place(_PATH, listen, MemoryDisk())


def when_stdin_closes(call: Callable[[], None]) -> None:
    """Has the running loop call back once nothing more can come from standard input."""
    loop = asyncio.get_running_loop()
    # Without one, its number is another file's by now.
    descriptor = -1 if sys.__stdin__ is None else sys.__stdin__.fileno()

    def watch() -> None:
        with suppress(OSError):  # It is not there, or gone in another way.
            while os.read(descriptor, _CHUNK_BYTES):
                pass
        with suppress(RuntimeError):  # The loop has ended by itself.
            loop.call_soon_threadsafe(call)

    # A daemon: a read that never returns must not keep the process.
    Thread(target=watch, name="riverlog-stdin", daemon=True).start()
