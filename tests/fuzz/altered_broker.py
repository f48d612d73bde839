"""`riverlog` with something changed beforehand: a planted bug, or a kernel with sanitizers.

Run as a program of its own: `altered_broker.py ALTERATION serve --data …`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from riverlog.cli.main import main
from riverlog.kafka import connection
from riverlog.kernel import library as kernel_library
from riverlog.protocol import codec
from riverlog.protocol.api_keys import ApiKey
from riverlog.protocol.headers import read_start

# Bytes that end early are then no declared error any more.
UNDECLARED = "undeclared-error"
# Each request leaves something behind; or one API takes much for a moment.
LEAKING = "leaking"
GREEDY = "greedy"
# With the path of a kernel behind it.
KERNEL = "kernel="

LEAKED_BYTES = 1 << 16
GRABBED_BYTES = 96 << 20


def alter(alteration: str) -> None:
    if alteration == UNDECLARED:
        codec._MALFORMED = (IndexError, UnicodeDecodeError)  # type: ignore[assignment]  # one fewer
    elif alteration == LEAKING:
        leak: list[bytes] = []
        _before_each_request(lambda _: leak.append(b"x" * LEAKED_BYTES))
    elif alteration == GREEDY:
        _before_each_request(lambda key: key == ApiKey.API_VERSIONS and len(b"x" * GRABBED_BYTES))
    elif alteration.startswith(KERNEL):
        # The kernel is looked for beside the module that loads it.
        path = Path(alteration.removeprefix(KERNEL))
        kernel_library.__file__ = str(path.with_name("library.py"))
        assert kernel_library.library() is not None, f"{path} does not load"


def _before_each_request(do: Callable[[int], object]) -> None:
    def doing(frame: bytes) -> tuple[int, int, int]:
        start = read_start(frame)
        do(start[0])
        return start

    connection.read_start = doing  # type: ignore[attr-defined]  # imported there


if __name__ == "__main__":
    _, alteration, *arguments = sys.argv
    alter(alteration)
    sys.exit(main(arguments))
