"""What Spark needs: when it is not here, one sentence says what, and what to do about it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from riverlog.spark import SparkUnavailable
from riverlog.spark.environment import require_java
from tests.tools import REPOSITORY

OF_17 = """\
openjdk version "17.0.15" 2025-04-15
OpenJDK Runtime Environment (build 17.0.15+6-Debian-1deb12u1)"""
OF_8 = 'java version "1.8.0_392"\nJava(TM) SE Runtime Environment (build 1.8.0_392-b08)'
OF_11_AND_A_NOTE = 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "11.0.2" 2019-01-15'
OF_25_EARLY = 'openjdk version "25-ea" 2025-09-16'
UNHEARD_OF = "a Java of the future"


def java_in(directory: Path, says: str, code: int = 0) -> Path:
    """A `java` that answers `-version` like this, as Java does, on standard error."""
    java = directory / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n[ \"$*\" = -version ] || exit 9\ncat >&2 <<'END'\n{says}\nEND\n")
    with java.open("a") as script:
        script.write(f"exit {code}\n")
    java.chmod(0o755)
    return java


def on_path(java: Path) -> dict[str, str]:
    return {"PATH": f"{java.parent}{os.pathsep}{os.environ['PATH']}"}


def told(variables: dict[str, str]) -> str:
    with pytest.raises(SparkUnavailable) as refused:
        require_java(variables)
    sentence = str(refused.value)
    assert sentence.startswith("Spark needs Java 17 or newer, and ")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("says", [OF_17, OF_25_EARLY, UNHEARD_OF])
def test_a_java_that_may_do_is_taken(tmp_path: Path, says: str) -> None:
    java = java_in(tmp_path, says)

    require_java(on_path(java))
    require_java({"JAVA_HOME": str(tmp_path), "PATH": ""})


@pytest.mark.parametrize(("says", "version"), [(OF_8, 8), (OF_11_AND_A_NOTE, 11)])
def test_an_old_java_is_named(tmp_path: Path, says: str, version: int) -> None:
    java = java_in(tmp_path, says)

    assert f"{java} is Java {version}: point JAVA_HOME at a newer one" in told(on_path(java))


def test_java_home_comes_before_the_path_as_it_does_for_spark(tmp_path: Path) -> None:
    newer = java_in(tmp_path / "newer", OF_17)
    older = java_in(tmp_path / "older", OF_8)

    require_java({**on_path(older), "JAVA_HOME": str(tmp_path / "newer")})

    assert "is Java 8" in told({**on_path(newer), "JAVA_HOME": str(tmp_path / "older")})


def test_a_java_that_is_not_there_is_missed(tmp_path: Path) -> None:
    assert "there is none on the PATH" in told({"PATH": str(tmp_path)})
    missing = told({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]})
    assert f"JAVA_HOME is {tmp_path}, which has no bin/java" in missing


def test_a_java_that_does_not_run_is_no_java(tmp_path: Path) -> None:
    stub = java_in(tmp_path / "stub", "Unable to locate a Java Runtime.", code=1)
    other = java_in(tmp_path / "other", "")
    other.write_bytes(b"\x7fELF of another machine")

    assert f"{stub} does not run" in told(on_path(stub))
    assert f"{other} does not run" in told(on_path(other))


@pytest.mark.parametrize(
    ("packages", "sentence"),
    [
        ({}, "PySpark 4.2 or newer is needed and is not installed"),
        ({"pyspark": "4.1.2"}, "PySpark 4.2 or newer is needed, and 4.1.2 is installed"),
        ({"pyspark": "4.2.0.dev0"}, "pyarrow 18.0 or newer is needed and is not installed"),
        ({"pyspark": "5.0", "pyarrow": "17.0.0"}, "needed, and 17.0.0 is installed"),
    ],
)
def test_a_missing_or_old_package_is_named(
    tmp_path: Path, packages: dict[str, str], sentence: str
) -> None:
    for name, version in packages.items():
        (tmp_path / f"{name}.py").write_text(f"__version__ = {version!r}\n")
    variables = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY / 'src'}", "PATH": ""}

    # Without `site` a Python has nothing but what comes with it.
    done = subprocess.run(
        [sys.executable, "-S", "-c", "from riverlog.spark import require; require()"],
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    last_line = done.stderr.splitlines()[-1]
    assert sentence in last_line
    assert "pip install 'riverlog[spark]'" in last_line
