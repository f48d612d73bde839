"""Kafka's own command line tools do their work here, unmodified."""

import re
import shutil
from pathlib import Path

import pytest

from riverlog.kafka.apis import served
from tests.broker_process import BrokerProcess
from tests.conformance.apache_kafka.command_line import CommandLine, Ran

pytestmark = pytest.mark.client("apache-kafka")


class At:
    """The tools, pointed at one broker."""

    def __init__(self, command_line: CommandLine, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._command_line = command_line

    def run(self, tool: str, *arguments: str, stdin: str = "") -> Ran:
        given = (*arguments, "--bootstrap-server", self.bootstrap)
        return self._command_line.run(tool, *given, stdin=stdin)

    def attempt(self, tool: str, *arguments: str) -> Ran:
        return self._command_line.attempt(tool, *arguments, "--bootstrap-server", self.bootstrap)

    def create(self, topic: str, partitions: int = 1, *configs: str) -> None:
        given = [part for config in configs for part in ("--config", config)]
        numbers = ["--partitions", str(partitions), "--replication-factor", "1"]
        self.run("kafka-topics", "--create", "--topic", topic, *numbers, *given)

    def produce(self, topic: str, *values: str) -> None:
        self.run("kafka-console-producer", "--topic", topic, stdin="\n".join(values) + "\n")

    def offsets(self, topic: str, time: str) -> list[str]:
        return self.run("kafka-get-offsets", "--topic", topic, "--time", time).lines

    def consume(self, topic: str, count: int, *arguments: str) -> list[str]:
        limits = ["--max-messages", str(count), "--timeout-ms", "15000"]
        return self.run("kafka-console-consumer", "--topic", topic, *limits, *arguments).lines


@pytest.fixture
def at(command_line: CommandLine, shared_broker: BrokerProcess) -> At:
    return At(command_line, shared_broker.bootstrap)


def test_kafka_topics_makes_lists_and_deletes(at: At) -> None:
    at.create("tools-made", 3)
    assert "tools-made" in at.run("kafka-topics", "--list").lines

    again = at.attempt("kafka-topics", "--create", "--topic", "tools-made")
    assert (again.exit_code, "already exists" in again.out) == (1, True)

    at.run("kafka-topics", "--delete", "--topic", "tools-made")
    assert "tools-made" not in at.run("kafka-topics", "--list").lines


def test_kafka_topics_is_told_why_three_replicas_cannot_be(at: At) -> None:
    numbers = ["--partitions", "1", "--replication-factor", "3"]
    refused = at.attempt("kafka-topics", "--create", "--topic", "tools-three", *numbers)
    assert refused.exit_code == 1
    assert "replication factor of 3 cannot be reached" in refused.out


def test_kafka_topics_describes(at: At) -> None:
    at.create("tools-described", 2, "retention.ms=60000")
    head, *partitions = at.run("kafka-topics", "--describe", "--topic", "tools-described").lines
    assert "PartitionCount: 2\tReplicationFactor: 1\tConfigs: " in head
    assert "retention.ms=60000" in head
    assert [re.findall(r"Partition: \d|Leader: \d|Isr: \d", line) for line in partitions] == [
        ["Partition: 0", "Leader: 1", "Isr: 1"],
        ["Partition: 1", "Leader: 1", "Isr: 1"],
    ]


def test_kafka_topics_adds_partitions(at: At) -> None:
    at.create("tools-grown", 1)
    at.run("kafka-topics", "--alter", "--topic", "tools-grown", "--partitions", "3")
    assert at.offsets("tools-grown", "latest") == [f"tools-grown:{index}:0" for index in range(3)]

    fewer = ["--alter", "--topic", "tools-grown", "--partitions", "2"]
    assert at.attempt("kafka-topics", *fewer).exit_code == 1


def test_kafka_configs_describes_adds_and_deletes(at: At) -> None:
    at.create("tools-configured", 1)
    of_topic = ["--entity-type", "topics", "--entity-name", "tools-configured"]

    def described(*arguments: str) -> str:
        return at.run("kafka-configs", "--describe", *of_topic, *arguments).out

    changes = "retention.ms=60000,max.message.bytes=2000"
    at.run("kafka-configs", "--alter", *of_topic, "--add-config", changes)
    assert "retention.ms=60000 " in described()
    assert "max.message.bytes=2000 " in described()

    at.run("kafka-configs", "--alter", *of_topic, "--delete-config", "retention.ms")
    assert "retention.ms" not in described()
    assert "retention.ms=604800000 " in described("--all")

    wrong = ["--alter", *of_topic, "--add-config", "retention.ms=soon"]
    assert at.attempt("kafka-configs", *wrong).exit_code == 1


def test_kafka_configs_describes_the_broker(at: At) -> None:
    of_broker = ["--entity-type", "brokers", "--entity-name", "1"]
    out = at.run("kafka-configs", "--describe", *of_broker, "--all").out
    assert "num.partitions=4 " in out


def test_the_console_producer_and_consumer_pass_records_on(at: At) -> None:
    at.create("tools-console", 1)
    keyed = ["--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]
    given = ["--topic", "tools-console", *keyed, "--compression-codec", "zstd"]
    at.run("kafka-console-producer", *given, stdin="a:one\nb:two\nc:three\n")

    shown = ["--formatter-property", "print.key=true", "--formatter-property", "key.separator=:"]
    of_partition = ["--partition", "0", "--offset", "1"]
    assert at.consume("tools-console", 2, *of_partition, *shown) == ["b:two", "c:three"]


def test_kafka_get_offsets_tells_every_kind(at: At) -> None:
    at.create("tools-offsets", 1)
    at.produce("tools-offsets", "one")
    times = ("earliest", "latest", "max-timestamp", "earliest-local", "0")
    found = {time: at.offsets("tools-offsets", time) for time in times}
    assert found == {
        "earliest": ["tools-offsets:0:0"],
        "latest": ["tools-offsets:0:1"],
        "max-timestamp": ["tools-offsets:0:0"],
        "earliest-local": ["tools-offsets:0:0"],
        "0": ["tools-offsets:0:0"],
    }


def test_kafka_delete_records_moves_the_start(at: At, tmp_path: Path) -> None:
    at.create("tools-shortened", 1)
    at.produce("tools-shortened", "one", "two", "three")
    places = tmp_path / "places.json"
    place = '{"topic": "tools-shortened", "partition": 0, "offset": 2}'
    places.write_text(f'{{"partitions": [{place}], "version": 1}}')

    ran = at.run("kafka-delete-records", "--offset-json-file", str(places))

    assert "low_watermark: 2" in ran.out
    assert at.offsets("tools-shortened", "earliest") == ["tools-shortened:0:2"]


def test_kafka_consumer_groups_lists_describes_resets_and_deletes(at: At) -> None:
    at.create("tools-grouped", 1)
    at.produce("tools-grouped", "one", "two", "three")
    group = ["--group", "tools-group"]
    assert at.consume("tools-grouped", 2, "--from-beginning", *group) == ["one", "two"]
    assert "tools-group" in at.run("kafka-consumer-groups", "--list").lines
    assert at.run("kafka-consumer-groups", "--describe", *group).lines[-1].split()[:6] == [
        "tools-group", "tools-grouped", "0", "2", "3", "1",
    ]  # fmt: skip

    reset = ["--reset-offsets", "--topic", "tools-grouped", "--to-earliest", "--execute"]
    at.run("kafka-consumer-groups", *group, *reset)

    described = at.run("kafka-consumer-groups", "--describe", *group).lines[-1].split()
    assert described[3:6] == ["0", "3", "3"]
    assert "(1)" in at.run("kafka-consumer-groups", "--describe", "--state", *group).out
    at.run("kafka-consumer-groups", "--delete", *group)
    assert "tools-group" not in at.run("kafka-consumer-groups", "--list").lines


def test_kafka_groups_lists(at: At) -> None:
    assert at.run("kafka-groups", "--list").exit_code == 0


def test_kafka_log_dirs_tells_sizes(at: At) -> None:
    at.create("tools-sized", 1)
    at.produce("tools-sized", "one")
    out = at.run("kafka-log-dirs", "--describe", "--topic-list", "tools-sized").out
    size = re.search(r'"partition":"tools-sized-0","size":(\d+)', out)
    assert size is not None, out
    assert int(size[1]) > 0


def test_kafka_broker_api_versions_tells_what_is_served(at: At) -> None:
    out = at.run("kafka-broker-api-versions").out
    found = re.findall(r"\((\d+)\): (\d+) to (\d+) \[usable: \d+\]", out)
    found += [(k, v, v) for k, v in re.findall(r"\((\d+)\): (\d+) \[usable: \d+\]", out)]
    told = {int(key): (int(first), int(last)) for key, first, last in found}
    assert told == {key: (api.first_advertised, api.last) for key, api in served().items()}


def test_kafka_cluster_tells_the_id_and_the_brokers(at: At) -> None:
    assert at.run("kafka-cluster", "cluster-id").out.startswith("Cluster ID: ")
    host, port = at.bootstrap.split(":")
    (_, broker) = at.run("kafka-cluster", "list-endpoints").lines
    assert broker.split() == ["1", host, port, "null", "unfenced", "broker"]


def test_the_producer_performance_tool_writes(at: At) -> None:
    numbers = ["--num-records", "2000", "--record-size", "100", "--throughput", "-1"]
    written = at.run("kafka-producer-perf-test", "--topic", "tools-perf", *numbers)
    assert "2000 records sent" in written.out


def test_the_consumer_performance_tool_reads(at: At) -> None:
    at.create("tools-read-perf", 1)
    at.produce("tools-read-perf", *map(str, range(50)))
    numbers = ["--num-records", "50", "--timeout", "15000"]
    read = at.run("kafka-consumer-perf-test", "--topic", "tools-read-perf", *numbers)
    assert ", 50, " in read.out


def test_kafka_dump_log_reads_our_segments(
    command_line: CommandLine, broker: BrokerProcess, tmp_path: Path
) -> None:
    at = At(command_line, broker.bootstrap)
    at.create("tools-dumped", 1)
    at.produce("tools-dumped", "one", "two")
    broker.terminate()
    (segment,) = broker.data.glob("topics/*/0/*.log")
    copy = tmp_path / segment.name
    shutil.copy(segment, copy)

    out = command_line.run("kafka-dump-log", "--files", str(copy), "--print-data-log").out

    assert re.findall(r"offset: (\d+) .*payload: (\w+)", out) == [("0", "one"), ("1", "two")]
    assert "isvalid: true" in out
