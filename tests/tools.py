"""Outside tools: found on this machine, or the test that needs one skips by name.

With `CI=true` in the environment nothing skips: a missing tool fails the test, so that a green run
there means that every client was really tried.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
TOOLS = REPOSITORY / ".tools"
INSTALL_S_MAX = 600
COPY_JARS = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"]

# What a tool is run by, where that is not one command of the same name.
COMMANDS = {
    "java": ("java", "mvn"),
    "apache-kafka": ("java", "javac", "mvn"),
    "node": ("node", "npm"),
    "spark": ("java",),
    "spark-jvm-connector": ("java", "mvn"),
    "pyyaml": (),
}

# The Python package without which it cannot be run either.
PACKAGES = {"spark": "pyspark", "spark-jvm-connector": "pyspark", "pyyaml": "yaml"}


def lacking(tool: str) -> str | None:
    """Why `tool` cannot be run here, or None if it can."""
    for command in COMMANDS.get(tool, (tool,)):
        if shutil.which(command) is None:
            return f"{command} is not installed"
    if tool in PACKAGES and importlib.util.find_spec(PACKAGES[tool]) is None:
        return f"{PACKAGES[tool]} is not installed"
    return None


def require(tool: str) -> None:
    """Returns if `tool` can be run here; otherwise ends the test, by name."""
    reason = lacking(tool)
    if reason is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)


def node_modules() -> Path:
    """A directory whose `node_modules` has what `node/package-lock.json` pins."""
    source = REPOSITORY / "tests" / "conformance" / "clients" / "node"
    manifests = [source / "package.json", source / "package-lock.json"]
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    return _installed("node", manifests, command)


def java_jars() -> Path:
    """A directory whose `jars` has what `java/pom.xml` names, and what that needs."""
    source = REPOSITORY / "tests" / "conformance" / "clients" / "java"
    return _installed("java", [source / "pom.xml"], COPY_JARS)


def apache_kafka() -> Path:
    """A directory with Apache Kafka's `jars`, and the `classes` by which tests run them."""
    source = REPOSITORY / "tests" / "conformance" / "apache_kafka"
    manifests = [source / "pom.xml", source / "Node.java", source / "Tools.java"]
    command = f"{' '.join(COPY_JARS)} && javac -cp 'jars/*' -d classes *.java"
    return _installed("apache-kafka", manifests, ["sh", "-c", command])


def spark_kafka_connector() -> Path:
    """A directory whose `jars` has Spark's own Kafka connector, to compare ours with."""
    source = REPOSITORY / "tests" / "spark" / "jvm_connector"
    return _installed("spark-jvm-connector", [source / "pom.xml"], COPY_JARS)


def oldest_spark() -> Path:
    """A directory whose `packages` has the oldest PySpark that we work with, to put before ours."""
    requirements = REPOSITORY / "requirements" / "spark42.txt"
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    command += ["--require-hashes", "--target", "packages", "-r", requirements.name]
    return _installed("spark42", [requirements], command)


def _installed(name: str, manifests: Sequence[Path], command: Sequence[str]) -> Path:
    """Where `command` has installed what these manifests say; once, whoever asks and how often."""
    contents = b"".join(manifest.read_bytes() for manifest in manifests)
    place = TOOLS / name / hashlib.sha256(contents).hexdigest()[:16]
    with _alone(TOOLS / f"{name}.lock"):
        if not place.is_dir():
            draft = place.with_suffix(".draft")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            for manifest in manifests:
                shutil.copy(manifest, draft)
            _run(command, draft)
            draft.rename(place)
    return place


def _run(command: Sequence[str], directory: Path) -> None:
    done = subprocess.run(
        command,
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=INSTALL_S_MAX,
    )
    if done.returncode:
        pytest.fail(f"{' '.join(command)} failed:\n{done.stdout.decode()}", pytrace=False)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Holds `lock` against every other test process."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
