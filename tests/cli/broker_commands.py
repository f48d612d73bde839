"""`riverlog` against a broker, with bytes in and out; in this process, which is far quicker."""

import contextlib
import io
import tempfile
from typing import NamedTuple
from unittest import mock

from riverlog.cli.main import main
from tests.broker_process import BrokerProcess


class Said(NamedTuple):
    """How a run ended, in bytes."""

    code: int
    out: bytes
    err: bytes


def riverlog(broker: BrokerProcess, *arguments: str, stdin: bytes = b"") -> Said:
    """Runs a command with this input, as a pipe would give it."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    with tempfile.TemporaryFile("w+") as source:
        source.buffer.write(stdin)
        source.seek(0)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch("sys.stdin", source),
        ):
            code = main([*arguments, "--bootstrap", broker.bootstrap])
    for stream in (out, err):
        stream.seek(0)
    return Said(code, out.buffer.read(), err.buffer.read())
