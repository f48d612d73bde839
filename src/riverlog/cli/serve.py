"""`riverlog serve`: a broker in the foreground, until a signal ends it."""

import argparse
import asyncio
import signal
from collections.abc import Mapping

from riverlog.app import App
from riverlog.cli.arguments import Parser
from riverlog.cli.ephemeral import add_test_flags, place_of, when_stdin_closes
from riverlog.cli.refusals import REFUSED, WELL
from riverlog.cli.setting_flags import add_flags, chosen_settings
from riverlog.kafka.listener import CannotListen
from riverlog.log.errors import StorageFailed
from riverlog.runtime import logs
from riverlog.runtime.chance import SystemChance
from riverlog.runtime.clock import SystemClock
from riverlog.runtime.memory import give_back_when_quiet, keep_freed_memory
from riverlog.runtime.open_files import allow_more_open_files
from riverlog.runtime.tasks import Supervisor
from riverlog.settings.sources import InvalidSetting
from riverlog.stores.data_directory import NotADataDirectory, UnknownFormat
from riverlog.stores.directory_lock import AlreadyInUse

DESCRIPTION = """\
Runs a broker until SIGTERM or Ctrl-C: it then answers what it was asked, and stops. A second
signal stops it at once.

Every setting is a flag, a variable (RIVERLOG_NUM_PARTITIONS) and a key of a TOML file
(num.partitions), and counts in this order. `riverlog config` shows them all."""
EXAMPLES = """\
Examples:
  riverlog serve --data ./data                                on 127.0.0.1:9092
  riverlog serve --data ./data --listen 0.0.0.0:9092 --advertise broker.example.org:9092
  RIVERLOG_DATA=./data riverlog serve --num-partitions 1
  riverlog serve --config riverlog.toml                       `riverlog config --toml` makes one
  riverlog serve --ephemeral --print-bootstrap --until-stdin-closes        for a test suite"""

# What the person who typed the command can mend; one line says how.
EXIT_CODES: Mapping[type[Exception], int] = {
    InvalidSetting: REFUSED,
    CannotListen: REFUSED,
    NotADataDirectory: REFUSED,
    UnknownFormat: REFUSED,
    AlreadyInUse: REFUSED,
    StorageFailed: REFUSED,
    OSError: REFUSED,
}
STOPPING = (signal.SIGTERM, signal.SIGINT)


def describe(parser: Parser) -> None:
    """Adds a flag for every setting, and those that tests use."""
    add_flags(parser)
    add_test_flags(parser)


def run(options: argparse.Namespace) -> int:
    """Serves until it is told to stop; 0 after a clean stop."""
    settings = chosen_settings(options)
    place = place_of(options, settings)
    logs.configure(settings.text("riverlog.log.level"), json=settings.is_on("riverlog.log.json"))
    keep_freed_memory()
    allow_more_open_files()
    app = App(
        data=place.data,
        listen=place.listen,
        advertise=settings.address("riverlog.advertise"),
        limits=settings.limits(),
        settings=settings.broker(),
        group_settings=settings.groups(),
        defaults=settings.log_defaults(),
        disk=place.disk,
        in_memory=place.disk is not None,
    )
    asyncio.run(_serve(app, options))
    return WELL


async def _serve(app: App, options: argparse.Namespace) -> None:
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
    if options.until_stdin_closes:
        when_stdin_closes(stop)
    clock = SystemClock()
    tasks = Supervisor(clock, SystemChance())
    await app.open()
    tasks.start("give memory back", lambda: give_back_when_quiet(clock))
    try:
        if options.print_bootstrap:
            print(app.address, flush=True)
        await told_to_stop.wait()
    finally:
        await tasks.close()
        await app.close()
