"""A real broker in a process of its own, as people run it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

START_S_MAX = 15
STOP_S_MAX = 20
POLL_S = 0.005

LISTENING = re.compile(rb"listening address=(\S+):(\d+)\n")
BROKEN = re.compile(r"^Traceback |^\S+ (?:ERROR|CRITICAL) ", re.MULTILINE)


class BrokerProcess:
    """`riverlog serve` on a free loopback port, with its data and its log in one directory.

    The port is chosen at the first start and kept, so that clients find the broker again.
    """

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.data = directory / "data"
        self.log = directory / "broker.log"
        self.host = "127.0.0.1"
        self.port = 0
        self.program: Sequence[str] = (sys.executable, "-m", "riverlog")
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """What clients are given to find it."""
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        """The id of the running process."""
        assert self._process is not None, "the broker is not running"
        return self._process.pid

    @property
    def stderr(self) -> str:
        """All it has said, over all its starts."""
        return self.log.read_text()

    def spawn(self) -> subprocess.Popen[bytes]:
        """Another process with the same data, address and log, which is the caller's to end.

        Settings of whoever runs the tests are not its own. A test may set another `program`.
        """
        command = [*self.program, "serve", "--data", str(self.data), "--listen", self.bootstrap]
        ours = {name: text for name, text in os.environ.items() if not name.startswith("RIVERLOG_")}
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*command, *self._arguments], stdin=subprocess.DEVNULL, stderr=log, env=ours
            )

    def start(self) -> None:
        """Accepts clients when it returns."""
        assert self._process is None, "the broker runs already"
        said_before_bytes = self.log.stat().st_size if self.log.exists() else 0
        self._process = self.spawn()
        deadline = time.monotonic() + START_S_MAX
        while True:
            listening = LISTENING.search(self.log.read_bytes(), said_before_bytes)
            if listening is not None:
                self.port = int(listening[2])
                return
            ended = self._process.poll()
            if ended is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the broker did not start (exit {ended}):\n{self.stderr}")
            time.sleep(POLL_S)

    def terminate(self) -> None:
        """Asks it to stop, and holds it to what a clean stop is: exit code 0, no broken promise."""
        assert self._process is not None, "the broker is not running"
        self._process.send_signal(signal.SIGTERM)
        try:
            exit_code = self._process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the broker did not stop on SIGTERM:\n{self.stderr}") from None
        self._process = None
        assert exit_code == 0, f"the broker ended with {exit_code}:\n{self.stderr}"
        self.check_log()

    def kill(self) -> None:
        """Ends it as `kill -9` does; it is gone when this returns."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Stops it cleanly and starts it again, on the same port and data."""
        self.terminate()
        self.start()

    def check_log(self) -> None:
        """Raises if it has logged an error or a traceback at any time."""
        assert not BROKEN.search(self.stderr), f"the broker logged an error:\n{self.stderr}"

    def end(self) -> None:
        """Leaves nothing running; a broker that still runs must stop cleanly."""
        if self._process is not None:
            self.terminate()
        self.check_log()
