"""The Python that Spark runs sources and sinks with, in the driver and in every executor."""

import shutil
import subprocess
import sys
from collections.abc import Mapping

from riverlog.spark.errors import SparkUnavailable

# Spark takes the first of these that is set, or else the first python3 on the PATH.
VARIABLES = ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON")

_ANSWER_S_MAX = 30
# Says its version, and which of the packages it is asked for are not there.
_PROBE = """\
import sys
from importlib.util import find_spec
print("%d.%d" % sys.version_info[:2], *(name for name in sys.argv[1:] if find_spec(name) is None))
"""


def is_chosen(variables: Mapping[str, str]) -> bool:
    """Whether the environment says which Python it is."""
    return any(variables.get(name) for name in VARIABLES)


def require_workers(variables: Mapping[str, str]) -> None:
    """Returns if the chosen Python will do; raises `SparkUnavailable` with a sentence.

    Only what this machine has under that name is looked at: what other machines have, Spark finds
    out when a task arrives there.
    """
    if not is_chosen(variables):
        return
    variable = next(name for name in VARIABLES if variables.get(name))
    python = shutil.which(variables[variable], path=variables.get("PATH"))
    if python == sys.executable:
        return
    version, *missing = _answer(python) or [""]
    here = "{}.{}".format(*sys.version_info)
    if not version:
        said = "which is no Python that runs here"
    elif version != here:
        said = f"which is Python {version} while this is Python {here}"
    elif missing:
        said = f"which has no {' and no '.join(missing)}"
    else:
        return
    raise SparkUnavailable(
        f"Spark runs sources and sinks with {variable}={variables[variable]}, {said}:"
        f" unset it, or set it to {sys.executable}"
    )


def _answer(python: str | None) -> list[str]:
    """The words of its answer; none if there is none."""
    if python is None:
        return []
    try:
        done = subprocess.run(
            [python, "-c", _PROBE, "riverlog", "pyarrow"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_ANSWER_S_MAX,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [] if done.returncode else done.stdout.decode(errors="replace").split()
