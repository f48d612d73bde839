"""Apache Kafka itself, one node, shared by all test processes of a run.

It takes 2 to 3 seconds to start and some 350 MB; it ends by itself when its last user does, however
that ended.
"""

import fcntl
import json
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from riverlog.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests import tools
from tests.conformance.clients.raw_connection import RawConnection

START_S_MAX = 60
POLL_S = 0.05
CLUSTER_ID = "cml2ZXJsb2ctdGVzdHMtMQ"
JAVA = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]

# What differs from Kafka's own defaults: one node, few partitions, and what Riverlog does too.
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={data}
num.partitions=4
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


class KafkaNode(NamedTuple):
    """Where the running node is found."""

    host: str
    port: int


@contextmanager
def node_of_run(
    factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[KafkaNode]:
    """One node for the whole run, however many processes it has."""
    base: Path = factory.getbasetemp()
    is_one_of_many = hasattr(request.config, "workerinput")
    with shared_node((base.parent if is_one_of_many else base) / "apache-kafka") as node:
        yield node


@contextmanager
def shared_node(directory: Path) -> Iterator[KafkaNode]:
    """A node for everyone who names the same directory; the first one here starts it."""
    directory.mkdir(parents=True, exist_ok=True)
    address = directory / "address.json"
    with ExitStack() as stack:
        users = stack.enter_context((directory / "users").open("a+"))
        with (directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Waits here for a node that has just seen its last user leave.
            fcntl.lockf(users, fcntl.LOCK_SH)
            node = _known(address)
            if node is None:
                node = _started(directory)
                address.write_text(json.dumps(node))
        yield node


def _known(address: Path) -> KafkaNode | None:
    if not address.exists():
        return None
    node = KafkaNode(*json.loads(address.read_text()))
    return node if _knows_itself(node) else None


def _started(directory: Path) -> KafkaNode:
    installed = tools.apache_kafka()
    data = directory / f"data-{time.monotonic_ns()}"
    node = KafkaNode("127.0.0.1", _free_port())
    properties = data.with_suffix(".properties")
    properties.write_text(
        PROPERTIES.format(port=node.port, controller_port=_free_port(), data=data)
    )
    log = data.with_suffix(".log")
    command = [*JAVA, "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    command += ["-cp", f"{installed}/classes:{installed}/jars/*", "Node"]
    command += [str(properties), CLUSTER_ID, str(directory / "users")]
    # No child of this process: it may outlive it, for the sake of other users.
    subprocess.run(["sh", "-c", f"{shlex.join(command)} >{log} 2>&1 &"], check=True)
    deadline = time.monotonic() + START_S_MAX
    while not _knows_itself(node):
        if time.monotonic() > deadline:
            pytest.fail(f"Apache Kafka did not start:\n{log.read_text()}", pytrace=False)
        time.sleep(POLL_S)
    return node


def _knows_itself(node: KafkaNode) -> bool:
    """Whether it answers, and is a member of its own cluster."""
    try:
        with closing(RawConnection(node)) as connection:
            reply = connection.ask(MetadataRequest(topics=[]), 13, MetadataResponse)
    except (OSError, AssertionError):
        return False
    return [broker.port for broker in reply.brokers] == [node.port]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
