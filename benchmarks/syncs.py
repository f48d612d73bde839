"""How durable a server is, seen from outside: the sync calls it makes, counted by strace."""

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

ATTACH_S_MAX = 10
CALLS = "fsync,fdatasync,msync"
_CALL = re.compile(r"\b(?:fsync|fdatasync|msync)\(")


@dataclass(frozen=True, slots=True)
class Syncs:
    """How many calls were seen, or why none could be."""

    count: int
    missing: str = ""

    def per(self, things: int, name: str) -> str:
        """For people: so many sync calls for each of so many things."""
        if self.missing:
            return f"not checked: {self.missing}"
        return f"{self.count:,} sync calls for {things:,} {name}s, {self.count / things:.3f} each"


def syncs_during(
    pid: int, directory: Path, work: Callable[[], T], held_up_ms: int = 0
) -> tuple[Syncs, T]:
    """Counts the sync calls of a process while `work` is done. The work itself is slowed down.

    Each call can be held up: what waits for it then shows in how long the work takes.
    """
    if shutil.which("strace") is None:
        return Syncs(0, "strace is not installed"), work()
    trace, said = directory / "strace.out", directory / "strace.err"
    with said.open("wb") as errors:
        command = ["strace", "-f", "-e", f"trace={CALLS}", "-o", str(trace), "-p", str(pid)]
        if held_up_ms:
            command += ["-e", f"inject={CALLS}:delay_exit={held_up_ms * 1000}"]
        tracer = subprocess.Popen(command, stderr=errors)
    try:
        deadline = time.monotonic() + ATTACH_S_MAX
        while "attached" not in said.read_text():
            if tracer.poll() is not None or time.monotonic() > deadline:
                return Syncs(0, f"strace could not attach: {said.read_text().strip()}"), work()
            time.sleep(0.01)
        done = work()
    finally:
        if tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
        tracer.wait()
    return Syncs(sum(bool(_CALL.search(line)) for line in trace.open())), done
