"""The processes of the demonstration: each can be killed with -9, and none outlives it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

STOP_S_MAX = 20
_LOOK_S = 0.02


class Broken(Exception):
    """A process did not do what it is there for; the text says which, and where its log is."""


class Broker:
    """`riverlog serve` on a free port of this machine, the same one after every start."""

    def __init__(self, directory: Path) -> None:
        self.data = directory / "data"
        self.log = directory / "broker.log"
        self.bootstrap = "127.0.0.1:0"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Takes clients when it returns."""
        command = [sys.executable, "-m", "riverlog", "serve", "--data", str(self.data)]
        command += ["--listen", self.bootstrap, "--print-bootstrap", "--until-stdin-closes"]
        self._process = _started(command, self.log)
        assert self._process.stdout is not None, "it is a pipe"
        said = self._process.stdout.readline().strip()
        if not said:
            self.kill()
            raise Broken(f"the broker did not start: see {self.log}")
        self.bootstrap = said

    def kill(self) -> None:
        """Ends it as `kill -9` does; it is gone when this returns."""
        if self._process is not None:
            self._process.kill()
            _reap(self._process)
            self._process = None

    def stop(self) -> None:
        """Ends it in peace."""
        if self._process is not None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_S_MAX)
            self.kill()


class Program:
    """A program of this package and whatever it starts, in a session of their own.

    It is told lines, and says JSON lines; without whoever started it, it ends.
    """

    def __init__(
        self, name: str, *arguments: str, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        command = [sys.executable, "-m", f"{__package__}.{name}", *arguments]
        self._process = _started(command, log, environment)
        self._said: SimpleQueue[dict[str, Any]] = SimpleQueue()  # whatever its JSON says
        self._ears = Thread(target=self._listen, daemon=True)
        self._ears.start()

    @property
    def pid(self) -> int:
        """The id of its first process, and of the session of all of them."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """What it has ended with, None while it runs."""
        return self._process.poll()

    def tell(self, line: str) -> None:
        """Sends it a line; one that has ended is past hearing."""
        assert self._process.stdin is not None, "it is a pipe"
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def heard(self) -> list[dict[str, Any]]:
        """What it has said since this was last asked."""
        found = []
        with suppress(Empty):
            while True:
                found.append(self._said.get_nowait())
        return found

    def kill(self) -> None:
        """Ends all its processes as `kill -9` does; they are gone when this returns."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        # Workers of Spark leave the group of processes, but not the session.
        while left := _session(self.pid):
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.poll()
            time.sleep(_LOOK_S)
        self._ears.join()
        _reap(self._process)

    def _listen(self) -> None:
        assert self._process.stdout is not None, "it is a pipe"
        for line in self._process.stdout:
            with suppress(ValueError):  # killed in the middle of a line, or not its own words
                self._said.put(json.loads(line))


def _started(
    command: list[str], log: Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    with log.open("a") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            env=environment,
            # Ctrl-C is for whoever started the demonstration, who ends the others in order.
            start_new_session=True,
        )


def _reap(process: subprocess.Popen[str]) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()


def _session(leader: int) -> list[int]:
    """The running processes of a session; nothing where the system does not tell."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, session = entry.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                found.append(int(entry.parent.name))
    return found
