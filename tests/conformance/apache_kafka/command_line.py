"""Kafka's own command line tools, run from its jars."""

from typing import NamedTuple

from tests import tools
from tests.conformance.apache_kafka.kafka_node import JAVA
from tests.conformance.clients.json_process import JsonProcess

# What the scripts of Kafka's distribution start.
CLASSES = {
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-dump-log": "kafka.tools.DumpLogSegments",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
}


class Ran(NamedTuple):
    """What a tool said, and how it ended."""

    exit_code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What it printed, line by line, without spaces at either end."""
        return [line.strip() for line in self.out.splitlines() if line.strip()]


class ToolFailed(AssertionError):
    """A tool did not end with 0."""


class CommandLine:
    """Runs tools one after the other in one process, started with the first."""

    def __init__(self) -> None:
        installed = tools.apache_kafka()
        command = [*JAVA, "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
        command += ["-cp", "classes:jars/*", "Tools"]
        self._process = JsonProcess(command, installed)

    def run(self, tool: str, *arguments: str, stdin: str = "") -> Ran:
        """Runs a tool to its end, which must be a good one."""
        ran = self.attempt(tool, *arguments, stdin=stdin)
        if ran.exit_code:
            raise ToolFailed(f"{tool} {' '.join(arguments)} ended with {ran}")
        return ran

    def attempt(self, tool: str, *arguments: str, stdin: str = "") -> Ran:
        """Runs a tool to its end, whichever."""
        command = {"tool": CLASSES[tool], "arguments": arguments, "input": stdin}
        return Ran(**self._process.ask(command))

    def close(self) -> None:
        self._process.close()
