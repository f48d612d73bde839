"""The system calls of a running broker: looked at, or made to fail, by `strace`."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.broker_process import BrokerProcess
from tests.tools import lacking, require

DETACH_S_MAX = 20
# One line for a call, or two when others came in between.
# Whatever the C library makes of a write at a position.
WRITES = "pwrite64,pwritev,pwritev2"

_WHOLE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+|\?)(.*)")
_BEGUN = re.compile(r"(\d+) +(\w+)\((.*?)(?:, )? *<unfinished \.\.\.>")
_ENDED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?)(.*)")
_PATH = re.compile(r'\d+<(/[^>]*)>|"(/[^"]*)"')
_CLIENT = re.compile(r"\d+<TCP:")
_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")


@dataclass(frozen=True, slots=True)
class Call:
    """A system call. `begun` and `ended` are places in the one order of all calls' ends."""

    name: str
    arguments: str
    result: int
    begun: int
    ended: int

    @property
    def path(self) -> str:
        """The file it was about, or the first of two; empty for what is no file."""
        found = _PATH.search(self.arguments)
        return "" if found is None else found[1] or found[2]

    @property
    def is_to_client(self) -> bool:
        """Whether it hands bytes to a client's socket."""
        return self.name in ("sendto", "sendmsg", "write", "writev") and bool(
            _CLIENT.match(self.arguments)
        )

    def precedes(self, other: "Call") -> bool:
        """Whether it was over before the other began."""
        return self.ended < other.begun


class Trace:
    """What `strace` writes down; it may be read while that goes on."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def calls(self) -> list[Call]:
        """All calls that have ended so far, in the order in which they began."""
        calls = []
        open_calls: dict[tuple[str, str], tuple[str, int]] = {}
        for number, line in enumerate(self._file.read_text().splitlines()):
            if whole := _WHOLE.match(line):
                calls.append(Call(whole[2], whole[3], _result(whole[4]), number, number))
            elif begun := _BEGUN.match(line):
                open_calls[begun[1], begun[2]] = (begun[3], number)
            elif ended := _ENDED.match(line):
                arguments, begun_at = open_calls.pop((ended[1], ended[2]), ("", number))
                arguments += ended[3]
                calls.append(Call(ended[2], arguments, _result(ended[4]), begun_at, number))
        return sorted(calls, key=lambda call: call.begun)


def is_permitted() -> bool:
    """Whether `strace` is here and may look at processes that it has not started."""
    if lacking("strace") is not None:
        return False
    return os.geteuid() == 0 or not _SCOPE.exists() or _SCOPE.read_text().strip() == "0"


@contextmanager
def traced(broker: BrokerProcess, names: str) -> Iterator[Trace]:
    """Writes down every call of these names while a `with` lasts."""
    file = broker.log.with_name("trace")
    with _attached(broker, "-yy", "-s", "0", "-o", str(file), "-e", f"trace={names}"):
        yield Trace(file)


@contextmanager
def failing(broker: BrokerProcess, name: str, error: str, *paths: Path) -> Iterator[None]:
    """Has every call of this name fail that is about these paths, while a `with` lasts."""
    options = ["-o", "/dev/null", "-e", f"trace={name}", "-e", f"inject={name}:error={error}"]
    for path in paths:
        options += ["-P", str(path)]
    with _attached(broker, *options):
        yield


@contextmanager
def killing(broker: BrokerProcess, names: str, when: int) -> Iterator[None]:
    """Has the broker killed as one of its threads makes its `when`-th call of these names."""
    inject = f"inject={names}:signal=KILL:when={when}"
    with _attached(broker, "-o", "/dev/null", "-e", f"trace={names}", "-e", inject):
        yield


@contextmanager
def _attached(broker: BrokerProcess, *options: str) -> Iterator[None]:
    require("strace")
    if not is_permitted():
        pytest.skip("strace may not look at other processes here")
    command = ["strace", "-f", "-p", str(broker.pid), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert " attached" in said, said
            yield
        finally:
            # It lets go of the broker and leaves it running, if it still is.
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=DETACH_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _result(text: str) -> int:
    return -1 if text == "?" else int(text)
