"""Clients of other languages: a program that takes JSON lines, and stays for the next command."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import tools
from tests.conformance.clients.client import ClientFailed, Cluster, Lack, Record
from tests.conformance.clients.json_process import JsonProcess, ProcessEnded

PROGRAMS = Path(__file__).parent


class ProcessClient:
    """A client in a process of its own, started when it is first asked for something.

    Its program is a `JsonProcess`; java/Client.java tells the words.
    """

    def __init__(self, name: str, lacks: Lack, command: Sequence[str], directory: Path) -> None:
        self.name = name
        self.lacks = lacks
        self._process = JsonProcess(command, directory)

    def describe(self, bootstrap: str) -> Cluster:
        reply = self._ask({"do": "list", "bootstrap": bootstrap})
        return Cluster(
            cluster_id=reply["cluster_id"],
            controller_id=reply["controller_id"],
            brokers=tuple((node_id, host, port) for node_id, host, port in reply["brokers"]),
            topics=reply["topics"],
        )

    def create_topics(self, bootstrap: str, partition_counts: Mapping[str, int]) -> None:
        counts = dict(partition_counts)
        self._ask({"do": "create", "bootstrap": bootstrap, "partition_counts": counts})

    def produce(self, bootstrap: str, topic: str, records: Sequence[Record], codec: str) -> None:
        command = {"do": "produce", "bootstrap": bootstrap, "topic": topic, "codec": codec}
        self._ask({**command, "records": [_given(record) for record in records]})

    def consume(self, bootstrap: str, counts: Mapping[str, int]) -> dict[str, list[Record]]:
        reply = self._ask({"do": "consume", "bootstrap": bootstrap, "counts": dict(counts)})
        return {topic: [_taken(given) for given in reply[topic]] for topic in counts}

    def close(self) -> None:
        self._process.close()

    def _ask(self, command: Mapping[str, object]) -> Any:  # JSON, whose shape is the command's
        try:
            reply = self._process.ask(command)
        except ProcessEnded as end:
            raise ClientFailed(f"{self.name}: {end}") from end
        if "error" in reply:
            raise ClientFailed(f"{self.name}: {reply['error']}")
        return reply


def java_client() -> ProcessClient:
    """kafka-clients, the reference; compiled as it starts, which takes it two seconds."""
    directory = tools.java_jars()
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"]
    command = ["java", *quick, "-cp", "jars/*", str(PROGRAMS / "java" / "Client.java")]
    return ProcessClient("kafka-clients", Lack.NOTHING, command, directory)


def kafkajs_client() -> ProcessClient:
    """KafkaJS; the headers of a record are an object of strings and buffers."""
    return _node_client("kafkajs", Lack.NULL_HEADERS | Lack.REPEATED_HEADERS)


def platformatic_client() -> ProcessClient:
    """@platformatic/kafka."""
    return _node_client("platformatic", Lack.NOTHING)


def node_command(directory: Path) -> list[str]:
    """How Node is started where the packages of `directory` are used."""
    # It comes with the packages where it can, so that its version is pinned like theirs.
    pinned = next(directory.glob("node_modules/node-linux-*/bin/node"), "node")
    # KafkaJS asks for timeouts below zero, of which newer versions of Node warn.
    return [str(pinned), "--disable-warning=TimeoutNegativeWarning"]


def _node_client(name: str, lacks: Lack) -> ProcessClient:
    directory = tools.node_modules()
    program = str(PROGRAMS / "node" / f"{name}.mjs")
    return ProcessClient(name, lacks, [*node_command(directory), program], directory)


def _given(record: Record) -> dict[str, object]:
    return {
        "partition": record.partition,
        "timestamp_ms": record.timestamp_ms,
        "key": _encoded(record.key),
        "value": _encoded(record.value),
        "headers": [[name, _encoded(value)] for name, value in record.headers],
    }


def _taken(given: Mapping[str, Any]) -> Record:  # JSON, as java/Client.java tells
    return Record(
        partition=given["partition"],
        timestamp_ms=given["timestamp_ms"],
        key=_decoded(given["key"]),
        value=_decoded(given["value"]),
        headers=tuple((name, _decoded(value)) for name, value in given["headers"]),
    )


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
