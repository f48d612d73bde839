"""`riverlog` run as people run it, and in this process for the many runs of a property."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple
from unittest import mock

from riverlog.cli.main import main

RUN_S_MAX = 60


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line of a refusal."""
        assert self.code == 2, self
        assert self.out == ""
        assert self.err.startswith("riverlog: ")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("riverlog: ").rstrip("\n")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "riverlog", *arguments]


def run(*arguments: str, variables: Mapping[str, str] | None = None) -> Ended:
    """Runs it in a process of its own, with none of our variables but these."""
    ended = subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=RUN_S_MAX,
        check=False,
        env=_environment(variables),
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def run_here(*arguments: str, variables: Mapping[str, str] | None = None) -> Ended:
    """Runs it in this process: a hundred times faster."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, _environment(variables), clear=True),
    ):
        code = main(arguments)
    return Ended(code, out.getvalue(), err.getvalue())


def _environment(variables: Mapping[str, str] | None) -> dict[str, str]:
    ours = {name: text for name, text in os.environ.items() if not name.startswith("RIVERLOG_")}
    return ours | dict(variables or {})
