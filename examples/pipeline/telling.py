"""How the processes of the demonstration talk: they are told lines, and say JSON lines."""

import json
import os
import sys
from collections.abc import Callable


def say(**facts: object) -> None:
    """Tells whoever started this process."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def listen(hear: Callable[[str], None]) -> None:
    """Gives on every line; ends the process when whoever started it has gone."""
    for line in sys.stdin:
        hear(line.strip())
    os._exit(1)
