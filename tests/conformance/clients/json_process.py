"""A program that takes JSON lines, and stays for the next command."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

END_S_MAX = 30


class ProcessEnded(Exception):
    """The program ended instead of answering; the message says with which exit code."""


class JsonProcess:
    """A process that answers each command, one JSON line, with one JSON line.

    It is started when it is first asked for something, and anew after it has failed to answer.
    What it says on standard error is shown with a failed test.
    """

    def __init__(self, command: Sequence[str], directory: Path) -> None:
        self._command = command
        self._directory = directory
        self._process: subprocess.Popen[str] | None = None

    def ask(self, command: Mapping[str, object]) -> Any:  # JSON, whose shape is the command's
        """The answer to one command; raises `ProcessEnded` when there will be none."""
        process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        # Unset until it has answered: a late answer must not be taken for the next command's.
        self._process = None
        try:
            process.stdin.write(json.dumps(command) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BaseException:
            process.kill()
            process.communicate()
            raise
        if not line:
            process.communicate()
            raise ProcessEnded(f"it ended with {process.returncode}")
        self._process = process
        return json.loads(line)

    def close(self) -> None:
        """Ends it: the end of its commands is what it waits for."""
        if self._process is not None:
            self._process.communicate(timeout=END_S_MAX)
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self._command, cwd=self._directory, stdin=pipe, stdout=pipe, encoding="utf-8"
        )
