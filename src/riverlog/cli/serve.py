"""`riverlog serve`: a broker in the foreground, until a signal ends it."""

import argparse
import asyncio
import signal
import sys

from riverlog.app import App
from riverlog.config import BrokerSettings, InvalidAddress, parse_address
from riverlog.kafka.listener import CannotListen
from riverlog.log.errors import StorageFailed
from riverlog.runtime import logs
from riverlog.runtime.memory import keep_freed_memory
from riverlog.stores.data_directory import NotADataDirectory, UnknownFormat
from riverlog.stores.directory_lock import AlreadyInUse

# What the person who typed the command can mend; one line says how.
MENDABLE = (
    InvalidAddress,
    CannotListen,
    NotADataDirectory,
    UnknownFormat,
    AlreadyInUse,
    StorageFailed,
)
STOPPING = (signal.SIGTERM, signal.SIGINT)


def serve(options: argparse.Namespace) -> int:
    """Serves until it is told to stop; 0 after a clean stop, 2 when it could not begin."""
    logs.configure(options.log_level, json=options.log_json)
    keep_freed_memory()
    try:
        app = App(
            data=options.data,
            listen=parse_address(options.listen),
            advertise=parse_address(options.advertise) if options.advertise else None,
            settings=BrokerSettings(
                auto_create_topics=options.auto_create_topics,
                num_partitions=options.num_partitions,
            ),
        )
        asyncio.run(_serve(app))
    except MENDABLE as error:
        print(f"riverlog: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        print(f"riverlog: the disk refused: {error.strerror}{where}", file=sys.stderr)
        return 2
    return 0


async def _serve(app: App) -> None:
    loop = asyncio.get_running_loop()
    told_to_stop = asyncio.Event()

    def stop() -> None:
        # The second one, whichever it is, finds the default action and ends the process at once.
        for number in STOPPING:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        told_to_stop.set()

    for number in STOPPING:
        loop.add_signal_handler(number, stop)
    await app.open()
    try:
        await told_to_stop.wait()
    finally:
        await app.close()
