"""Whether Spark can run here: PySpark, pyarrow, Java and the workers' Python will all do.

Looked at before Spark is started, as it would tell of a missing Java in a hundred lines.
"""

import importlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping

from riverlog.config import environment
from riverlog.spark.errors import SparkUnavailable
from riverlog.spark.workers import require_workers

PYSPARK_MIN = (4, 2)
PYARROW_MIN = (18, 0)
JAVA_MIN = 17

_INSTALL = "pip install 'riverlog[spark]' brings it"
_ANSWER_S_MAX = 30
_VERSION = re.compile(r"(\d+)(?:\.(\d+))?")
# `1.8.0_392` is how Java 8 and those before it counted.
_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def require() -> None:
    """Returns if a Spark session can be started here; raises `SparkUnavailable` with a sentence.

    A session on a Connect server needs no Java of its own: `require_packages` is enough for it.
    """
    require_packages()
    require_java(environment())
    require_workers(environment())


def require_packages() -> None:
    """Returns if this Python has what `format("riverlog")` is made of."""
    _require_package("pyspark", "PySpark", PYSPARK_MIN)
    _require_package("pyarrow", "pyarrow", PYARROW_MIN)


def require_java(variables: Mapping[str, str]) -> None:
    """Returns if the Java that Spark would run, by `JAVA_HOME` or else by `PATH`, will do."""
    java = _java_command(variables)
    found = _java_version(java)
    if found is not None and found < JAVA_MIN:
        raise SparkUnavailable(
            f"Spark needs Java {JAVA_MIN} or newer, and {java} is Java {found}:"
            " point JAVA_HOME at a newer one"
        )


def _require_package(package: str, name: str, least: tuple[int, int]) -> None:
    wanted = f"{name} {least[0]}.{least[1]} or newer is needed"
    try:
        module = importlib.import_module(package)
    except ImportError:
        raise SparkUnavailable(f"{wanted} and is not installed: {_INSTALL}") from None
    version = str(getattr(module, "__version__", "0"))
    found = _VERSION.match(version)
    if found is not None and (int(found[1]), int(found[2] or 0)) < least:
        raise SparkUnavailable(f"{wanted}, and {version} is installed: {_INSTALL}")


def _java_command(variables: Mapping[str, str]) -> str:
    """What Spark's own scripts would run."""
    home = variables.get("JAVA_HOME")
    if home:
        java = os.path.join(home, "bin", "java")
        if shutil.which(java) is None:
            raise SparkUnavailable(
                f"Spark needs Java {JAVA_MIN} or newer, and JAVA_HOME is {home}, which has no"
                " bin/java"
            )
        return java
    found = shutil.which("java", path=variables.get("PATH"))
    if found is None:
        raise SparkUnavailable(
            f"Spark needs Java {JAVA_MIN} or newer, and there is none on the PATH:"
            " install one, or set JAVA_HOME"
        )
    return found


def _java_version(java: str) -> int | None:
    """Its first number, or None if it says none that we know how to read."""
    try:
        done = subprocess.run(
            [java, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_S_MAX,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise _does_not_run(java) from None
    if done.returncode:
        raise _does_not_run(java)
    found = _JAVA_VERSION.search(done.stdout.decode(errors="replace"))
    return None if found is None else int(found[1])


def _does_not_run(java: str) -> SparkUnavailable:
    return SparkUnavailable(
        f"Spark needs Java {JAVA_MIN} or newer, and {java} does not run: install one,"
        " or set JAVA_HOME"
    )
