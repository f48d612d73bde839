"""What a running server has to offer to be measured."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from benchmarks.loads import Listening, Load
from benchmarks.machine import children_of
from benchmarks.servers import DidNotStart, Server

START_S_MAX = 90
POLL_S = 0.002
TCP_LISTEN = "0A"


class Target(Protocol):
    """A server that runs, and the words in which it is spoken to.

    A topic is whatever holds messages in order: a partition, a stream, a queue.
    """

    server: Server
    pid: int
    """The process that does the work: whose memory counts, and whose calls are traced."""
    keeps_what_is_read: bool
    """Whether a message can be read a second time."""

    def make(self, topic: str) -> None:
        """There is such a topic, and it is empty, once this returns."""

    def singly(self, topic: str, values: Sequence[bytes], publishers: int = 1) -> Load:
        """A message in each request, and one request at a time on each connection.

        Several publishers send the first value only.
        """

    def batched(self, topic: str, value: bytes) -> Load:
        """As many at once as its protocol is made for."""

    def listening(self, topic: str) -> Listening:
        """A consumer that begins with the first message. Each call makes a new one."""

    def stored(self, topic: str) -> int | None:
        """How many messages the server says it has; None if it does not say."""


def check_listener(pid: int, port: int) -> None:
    """Raises `DidNotStart` unless it is `pid` or one of its children that listens there."""
    wanted = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not any(wanted & _descriptors(one) for one in family(pid)):
        raise DidNotStart(f"not process {pid} listens on port {port}, but another")


def family(pid: int) -> list[int]:
    """A process and everyone who descends from it."""
    return [pid, *(one for child in children_of(pid) for one in family(child))]


def birth_ticks(pid: int) -> int | None:
    """When a process began, which tells it from later ones of the same number; None: it is gone."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return None


def _listening_inodes(port: int) -> set[str]:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == TCP_LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(fields[9])
    return inodes


def _descriptors(pid: int) -> set[str]:
    found = set()
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.add(os.readlink(descriptor))
    return found


class Deadline:
    """Ends a wait for a server: when it has taken too long, or the server has ended."""

    def __init__(self, log: Path, seconds: float = START_S_MAX) -> None:
        self._log = log
        self._until_s = time.monotonic() + seconds

    def wait(self, has_ended: bool) -> None:
        """Waits a moment; raises `DidNotStart` with the server's last words if all is over."""
        if has_ended or time.monotonic() > self._until_s:
            raise DidNotStart(self._log.read_text(errors="replace")[-2000:])
        time.sleep(POLL_S)
