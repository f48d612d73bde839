"""The servers that are measured, each a process of its own on a free loopback port."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import REPOSITORY
from benchmarks.rounds import Options

START_S_MAX = 60
STOP_S_MAX = 60
POLL_S = 0.001
LISTENING = re.compile(rb"listening address=\S+:(\d+)\n")
SERVER_PROCESSORS = {0}


class DidNotStart(Exception):
    """A server ended or was silent instead of listening; the message has what it said."""


@dataclass(slots=True)
class Server:
    """A running server. Its port is known to be its own."""

    process: subprocess.Popen[bytes]
    port: int
    begun_s: float = field(default_factory=time.perf_counter)
    """When it was started."""

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        """Ends it as `kill -9` does; it is gone when this returns."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ends it cleanly, if it still runs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_S_MAX)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def riverlog(
    directory: Path, options: Options, python_arguments: Sequence[str] = ("-m", "riverlog")
) -> Iterator[Server]:
    """A broker as people run it, with its data in `directory`."""
    command = [sys.executable, *python_arguments, "serve"]
    command += ["--data", str(directory / "data"), "--listen", "127.0.0.1:0"]
    with _listening(command, directory, options) as server:
        yield server


@contextmanager
def null_broker(
    directory: Path, options: Options, record_bytes: int, record_count: int
) -> Iterator[Server]:
    """A broker that keeps nothing; its partitions seem to hold so many records."""
    command = [sys.executable, "-m", "benchmarks.null_broker", str(record_bytes), str(record_count)]
    with _listening(command, directory, options) as server:
        yield server


@contextmanager
def redis(directory: Path, options: Options, append_sync: str = "always") -> Iterator[Server]:
    """Redis, which syncs its append-only file before every reply, or every second."""
    directory.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", str(directory)]
    command += ["--appendonly", "yes", "--appendfsync", append_sync, "--save", ""]
    # A rewrite of the file in the middle of a cell would be held against it.
    command += ["--auto-aof-rewrite-percentage", "0"]
    process = started(command, directory / "redis.log", options)
    server = Server(process, port)
    try:
        _await_redis(server, directory / "redis.log")
        yield server
    finally:
        server.stop()


def redis_ask(port: int, *words: str) -> bytes:
    """One short Redis reply, as it came."""
    request = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(request.encode())
        return connection.recv(65536)


@contextmanager
def _listening(command: list[str], directory: Path, options: Options) -> Iterator[Server]:
    directory.mkdir(parents=True, exist_ok=True)
    log = directory / "server.log"
    log.unlink(missing_ok=True)
    process = started(command, log, options)
    server = Server(process, 0)
    try:
        deadline = time.monotonic() + START_S_MAX
        while (listening := LISTENING.search(log.read_bytes())) is None:
            still_starting(process, log, deadline)
        server.port = int(listening[1])
        try:
            yield server
        except BaseException:
            print(log.read_text(errors="replace"), file=sys.stderr)
            raise
    finally:
        server.stop()


def started(
    command: list[str], log: Path, options: Options, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """A process that has just begun, and says what it says in `log`."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    if options.is_pinned:
        os.sched_setaffinity(process.pid, SERVER_PROCESSORS)
    return process


def _await_redis(server: Server, log: Path) -> None:
    deadline = time.monotonic() + START_S_MAX
    while True:
        try:
            told = redis_ask(server.port, "INFO", "server")
        except ConnectionRefusedError:
            still_starting(server.process, log, deadline)
            continue
        if f"process_id:{server.pid}\r".encode() not in told:
            raise DidNotStart(f"another server answers on port {server.port}")
        return


def still_starting(process: subprocess.Popen[bytes], log: Path, deadline: float) -> None:
    if process.poll() is not None or time.monotonic() > deadline:
        raise DidNotStart(log.read_text(errors="replace"))
    time.sleep(POLL_S)


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
