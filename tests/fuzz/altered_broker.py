"""`riverlog` with something changed beforehand: a planted bug, or a kernel with sanitizers.

Run as a program of its own: `altered_broker.py ALTERATION serve --data …`.
"""

import sys
from pathlib import Path

from riverlog.cli.main import main
from riverlog.kernel import library as kernel_library
from riverlog.protocol import codec

# Bytes that end early are then no declared error any more.
UNDECLARED = "undeclared-error"
# With the path of a kernel behind it.
KERNEL = "kernel="


def alter(alteration: str) -> None:
    if alteration == UNDECLARED:
        codec._MALFORMED = (IndexError, UnicodeDecodeError)  # type: ignore[assignment]  # one fewer
    elif alteration.startswith(KERNEL):
        # The kernel is looked for beside the module that loads it.
        path = Path(alteration.removeprefix(KERNEL))
        kernel_library.__file__ = str(path.with_name("library.py"))
        assert kernel_library.library() is not None, f"{path} does not load"


if __name__ == "__main__":
    _, alteration, *arguments = sys.argv
    alter(alteration)
    sys.exit(main(arguments))
