"""`riverlog serve`: a broker in the foreground, until a signal ends it."""

import argparse
import asyncio
import signal
import sys

from riverlog.app import App
from riverlog.config import Address, InvalidAddress, parse_address
from riverlog.kafka.listener import CannotListen
from riverlog.runtime import logs


def serve(options: argparse.Namespace) -> int:
    """Serves until it is told to stop; 0 after a clean stop, 2 when it could not begin."""
    logs.configure(options.log_level, json=options.log_json)
    try:
        listen = parse_address(options.listen)
        advertise = parse_address(options.advertise) if options.advertise else None
        asyncio.run(_serve(options.data, listen, advertise))
    except (InvalidAddress, CannotListen) as error:
        print(f"riverlog: {error}", file=sys.stderr)
        return 2
    return 0


async def _serve(data: str, listen: Address, advertise: Address | None) -> None:
    loop = asyncio.get_running_loop()
    told_to_stop = asyncio.Event()
    app = App(data=data, listen=listen, advertise=advertise)

    def stop(received: signal.Signals) -> None:
        # The second one finds the default action again, and ends the process at once.
        loop.remove_signal_handler(received)
        told_to_stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    await app.open()
    try:
        await told_to_stop.wait()
    finally:
        await app.close()
