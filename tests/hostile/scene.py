"""A broker under attack, watched from outside: its memory, its handles, its log, its other client.

An attack runs inside `with scene.attack():`. When the block ends, the other client must have been
served throughout and find all its records, and the broker must have its memory and handles back.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from riverlog.protocol.headers import request_frame
from tests.broker_process import BrokerProcess
from tests.conformance.clients.raw_connection import RawConnection
from tests.crash_real.wire import Wire, records_of, wired

MEMORY_MIB_MAX = 64
LOG_BYTES_MAX = 64 << 10
SETTLE_S_MAX = 10
POLL_S = 0.01
PAUSE_S = 0.005
BYSTANDERS_TOPIC = "bystanders"


class Scene:
    """One broker, and the means to attack it."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        self._connections: list[RawConnection] = []

    def connect(self) -> RawConnection:
        """A connection that is closed when the attack is over, if it has not been before."""
        self._connections.append(RawConnection(self.broker))
        return self._connections[-1]

    @contextmanager
    def attack(self, memory_mib_max: int = MEMORY_MIB_MAX) -> Iterator["Bystander"]:
        """What happens inside may cost the broker so much memory for a while, and nobody else
        anything."""
        with wired(self.broker) as wire:
            wire.describe(BYSTANDERS_TOPIC, is_creating=True)
            before_sockets = self.sockets()
            before_mib = self._memory_mib("VmRSS")
            said_bytes = len(self.broker.stderr)
            self._forget_peak()
            try:
                with _served_throughout(wire) as bystander:
                    yield bystander
            finally:
                for connection in self._connections:
                    connection.close()
                self._connections.clear()
            grown_mib = self._memory_mib("VmHWM") - before_mib
            assert grown_mib < memory_mib_max, f"it took {grown_mib:.0f} MiB more"
            assert len(self.broker.stderr) - said_bytes < LOG_BYTES_MAX
            self.broker.check_log()
            wait_for(lambda: self.sockets() <= before_sockets)

    def _memory_mib(self, field: str) -> float:
        lines = Path(f"/proc/{self.broker.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))

    def _forget_peak(self) -> None:
        Path(f"/proc/{self.broker.pid}/clear_refs").write_text("5")

    def sockets(self) -> int:
        """How many it has open. Files are left out: those of a topic that is new stay open."""
        count = 0
        for handle in Path(f"/proc/{self.broker.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                count += str(handle.readlink()).startswith("socket:")
        return count


class Bystander:
    """A client that means no harm: it writes a record every few milliseconds."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._written: list[tuple[int, bytes]] = []
        self._is_over = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._write)

    def start(self) -> None:
        self._thread.start()

    def wait_for_more(self, count: int = 5) -> None:
        """Returns when it has been served so many times more."""
        wanted = len(self._written) + count
        wait_for(lambda: len(self._written) >= wanted or self._failure is not None)

    def stop(self) -> None:
        """Ends it; raises if it was refused anything, or any of its records is not there."""
        self._is_over.set()
        self._thread.join()
        if self._failure is not None:
            raise AssertionError("the bystander was not served") from self._failure
        first_offset, _ = self._written[0]
        found = records_of(self._wire.read(BYSTANDERS_TOPIC))
        ours = {record.offset: record.payload for record in found if record.offset >= first_offset}
        assert ours == dict(self._written)

    def _write(self) -> None:
        try:
            while not self._is_over.wait(PAUSE_S):
                number = f"{time.monotonic_ns()}"
                produced = self._wire.produce(BYSTANDERS_TOPIC, (number, number.encode()))
                assert produced.is_acknowledged, produced
                self._written.append((produced.base_offset, number.encode()))
        except (OSError, AssertionError) as failure:
            self._failure = failure  # It is raised in the test's own thread.


@contextmanager
def _served_throughout(wire: Wire) -> Iterator[Bystander]:
    bystander = Bystander(wire)
    bystander.start()
    try:
        bystander.wait_for_more()
        yield bystander
        bystander.wait_for_more()
    finally:
        bystander.stop()


@contextmanager
def running(broker: BrokerProcess) -> Iterator[BrokerProcess]:
    """Runs a broker with settings of its own, and leaves nothing of it running."""
    broker.start()
    try:
        yield broker
        broker.end()
    finally:
        broker.kill()


def frame_of(request: Any, version: int, correlation_id: int = 0) -> bytes:  # as messages are
    """A whole request, as it goes over the wire."""
    return b"".join(request_frame(request, version, correlation_id, "hostile"))


def wait_for(condition: Callable[[], bool]) -> None:
    """Returns when it is so; fails if that takes too long."""
    deadline = time.monotonic() + SETTLE_S_MAX
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(POLL_S)
