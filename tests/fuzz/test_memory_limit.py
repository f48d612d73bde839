"""What holds a broker to its memory holds anybody to it."""

import subprocess
import sys

import pytest

from tests.fuzz.memory_limit import memory_limited

LIMIT_BYTES = 64 << 20
GREEDY = "import sys; sys.stdin.readline(); data = b'x' * int(sys.argv[1]); print(len(data))"


@pytest.mark.parametrize(("wanted_bytes", "is_too_much"), [(16 << 20, False), (400 << 20, True)])
def test_a_process_gets_no_more_than_its_limit(wanted_bytes: int, is_too_much: bool) -> None:
    command = [sys.executable, "-c", GREEDY, str(wanted_bytes)]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process,
        memory_limited(process.pid, LIMIT_BYTES),
    ):
        process.communicate(b"\n", timeout=60)

    assert (process.returncode != 0) == is_too_much
