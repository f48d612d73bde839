"""How a command ends other than well: an exit code, and one line that says what to do about it.

0 all went well, 1 it was tried and failed, 2 it was asked for wrongly. As shells have it, 130 is
Ctrl-C, 141 an output that nobody reads any more, 143 SIGTERM.
"""

from riverlog.cli.printable import printable

WELL = 0
FAILED = 1
REFUSED = 2
INTERRUPTED = 130
UNREAD = 141
TERMINATED = 143


class Refused(Exception):
    """It was asked for wrongly; the message says what would be right. Exit code 2."""


class Failed(Exception):
    """It was tried and did not succeed; the message says why. Exit code 1."""


def line_of(error: BaseException) -> str:
    """What went wrong on one line, whatever people or files put into the text."""
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror + (f": {error.filename}" if error.filename is not None else "")
    else:
        text = str(error)
    return f"riverlog: {printable(text)}"
