"""Members of a group, each a process of its own with a client of its own."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests import tools

PROGRAMS = Path(__file__).parent
TOOLS = {"kafka-clients": "java", "kafkajs": "node", "platformatic": "node"}
END_S_MAX = 20

Read = tuple[int, int]


class Member:
    """A running member, and what it has said: all it was assigned, all it has read and committed.

    `assignments` has every share it was told of, the latest last.
    """

    def __init__(self, client: str, bootstrap: str, group: str, topic: str, name: str) -> None:
        self.client = client
        self.name = name
        self.assignments: list[list[int]] = []
        self.read: list[Read] = []
        command, directory = _command(client)
        self._process = subprocess.Popen(
            [*command, bootstrap, group, topic, name],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    @property
    def partitions(self) -> list[int]:
        """Its present share, as far as it has told."""
        return self.assignments[-1] if self.assignments else []

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it without a word; whatever it said is heard when this returns."""
        self._process.kill()
        self._ended()

    def leave(self) -> None:
        """Has it leave the group and end."""
        self._process.terminate()
        try:
            self._process.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise AssertionError(f"{self.name} does not end") from None
        finally:
            self._ended()

    def _ended(self) -> None:
        self._process.wait()
        self._listener.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if "assigned" in said:
                self.assignments.append(sorted(said["assigned"]))
            else:
                self.read += [(partition, offset) for partition, offset in said["read"]]


def _command(client: str) -> tuple[list[str], Path]:
    if client == "kafka-clients":
        quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
        program = str(PROGRAMS / "java" / "Member.java")
        return ["java", *quick, "-cp", "jars/*", program], tools.java_jars()
    if client in ("kafkajs", "platformatic"):
        directory = tools.node_modules()
        pinned = next(directory.glob("node_modules/node-linux-*/bin/node"), "node")
        flag = "--disable-warning=TimeoutNegativeWarning"
        return [str(pinned), flag, str(PROGRAMS / "node" / f"{client}.mjs")], directory
    return [sys.executable, str(PROGRAMS / "python_member.py"), client], PROGRAMS
