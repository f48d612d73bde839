"""`riverlog` that tells on SIGUSR1 what it holds on to; or leaks, to see whether that is noticed.

Run as a program of its own: `watched_broker.py tight serve --data …`, or `leaking`.
"""

import asyncio
import gc
import json
import os
import signal
import sys
import threading
from collections import Counter
from typing import Any

from riverlog.cli.main import main
from riverlog.kafka.connection import Connection
from riverlog.runtime.memory import give_back_freed_memory

MARK = "holding "
TIGHT, LEAKING = "tight", "leaking"
LEAKED_BYTES = 400_000

_leaked: list[Any] = []  # of every kind


class Trifle:
    """Something that is forgotten about."""


def tell(*_: object) -> None:
    """One line on standard error: tasks, threads, and objects of our own by class."""
    gc.collect()
    give_back_freed_memory()
    kinds = Counter(
        f"{type(held).__module__}.{type(held).__name__}"
        for held in gc.get_objects()
        if type(held).__module__.startswith(("riverlog.", "asyncio.", "_asyncio", "__main__"))
    )
    told = {
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        "objects": dict(kinds),
    }
    sys.stderr.write(f"{MARK}{json.dumps(told)}\n")
    sys.stderr.flush()


def leak() -> None:
    """From now on every connection costs a task, a handle, an object and some memory for ever."""
    made = Connection.connection_made

    def leaking(self: Connection, transport: asyncio.BaseTransport) -> None:
        _leaked.append(asyncio.ensure_future(asyncio.Event().wait()))
        _leaked.append(os.open(os.devnull, os.O_RDONLY))
        _leaked.append(Trifle())
        _leaked.append(b"x" * LEAKED_BYTES)
        made(self, transport)

    Connection.connection_made = leaking  # type: ignore[method-assign]  # the planted bug


if __name__ == "__main__":
    _, kind, *arguments = sys.argv
    if kind == LEAKING:
        leak()
    signal.signal(signal.SIGUSR1, tell)
    sys.exit(main(arguments))
