"""Apache Kafka from its jars, one node, with the heap and the collector of its own scripts."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from tests import tools
from tests.conformance.apache_kafka.kafka_node import CLUSTER_ID, PROPERTIES

from benchmarks.kafka_connection import connected
from benchmarks.peers.kafka_wire import KafkaTarget
from benchmarks.peers.target import Deadline, check_listener
from benchmarks.rounds import Options
from benchmarks.servers import DidNotStart, Server, free_port, started

ACKS_ALL = -1

# What kafka-server-start.sh and kafka-run-class.sh give to Java.
JAVA = [
    "java", "-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
]  # fmt: skip

# A sync before the reply to every request, which is what acks=all means elsewhere.
FLUSHED = "log.flush.interval.messages=1\n"


def missing() -> str | None:
    lacking = tools.lacking("apache-kafka")
    return lacking and f"{lacking}: apt-get install default-jdk-headless maven"


@cache
def _installed() -> Path:
    """Its jars, fetched by Maven the first time."""
    try:
        return tools.apache_kafka()
    except pytest.fail.Exception as failure:
        raise DidNotStart(str(failure)) from failure


def version() -> str:
    (jar,) = (_installed() / "jars").glob("kafka_2.13-*.jar")
    return jar.stem.removeprefix("kafka_2.13-")


@contextmanager
def _running(more: str, directory: Path, options: Options) -> Iterator[KafkaTarget]:
    directory.mkdir(parents=True, exist_ok=True)
    port, log, properties = free_port(), directory / "kafka.log", directory / "kafka.properties"
    properties.write_text(_properties(port, directory / "data") + more)
    copytree(_formatted(directory.parent), directory / "data")
    classes = f"{_installed()}/jars/*"
    command = [*JAVA, "-cp", classes, "kafka.Kafka", str(properties)]
    server = Server(started(command, log, options), port)
    try:
        deadline = Deadline(log)
        while not _answers(port):
            deadline.wait(server.process.poll() is not None)
        check_listener(server.pid, port)
        yield KafkaTarget(server, ACKS_ALL)
    finally:
        server.stop()


def _properties(port: int, data: Path) -> str:
    return PROPERTIES.format(port=port, controller_port=free_port(), data=data)


def _formatted(place: Path) -> Path:
    """An empty directory as its users make it, once, before the first start; made once here."""
    data = place / "kafka-formatted"
    if data.exists():
        return data
    properties = place / "kafka-format.properties"
    properties.write_text(_properties(free_port(), data))
    command = ["java", "-cp", f"{_installed()}/jars/*", "kafka.tools.StorageTool"]
    command += ["format", "--cluster-id", CLUSTER_ID, "--config", str(properties)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        rmtree(data, ignore_errors=True)
        raise DidNotStart(done.stdout + done.stderr)
    return data


def _answers(port: int) -> bool:
    """Whether it is a member of its own cluster: it listens long before."""
    try:
        with connected(port) as connection:
            return connection.broker_ports() == [port]
    except OSError:
        return False


default = partial(_running, "")
synced = partial(_running, FLUSHED)
