"""Records what real clients ask: `python -m tests.fuzz.record` rewrites `recorded.txt`.

Every client of the conformance tests that is installed here works through a proxy against a broker
of its own: topics, records in every codec, groups, admin. Run it when a client or an API is new.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition

import riverlog
from tests.broker_process import BrokerProcess
from tests.conformance.apache_kafka.command_line import CommandLine
from tests.conformance.clients.admin import ADMINS, ConfluentAdmin, KafkaPythonAdmin
from tests.conformance.clients.client import CODECS, Record
from tests.conformance.clients.roster import MAKERS, TOOLS
from tests.crash_real.wire import wired
from tests.fuzz.corpus import GROUP, ORDERS, PARTITIONS, RECORDED, Corpus, save, thinned
from tests.fuzz.recording_proxy import recording_proxy
from tests.fuzz.sizes import say
from tests.tools import lacking

DOOMED = "fuzz-doomed"
EACH_MAX = 3
FRAME_BYTES_MAX = 4096
WAIT_S = 20


def main() -> int:
    with tempfile.TemporaryDirectory() as directory, recording_proxy() as proxy:
        there = f"127.0.0.1:{proxy.port}"
        broker = BrokerProcess(Path(directory), "--advertise", there)
        broker.start()
        try:
            proxy.target_port = broker.port
            with wired(broker) as wire:
                topic_id = wire.create_topic(ORDERS, PARTITIONS)
            for name, work in CLIENTS.items():
                if name in TOOLS and lacking(TOOLS[name]) is not None:
                    say(f"left out: {name}, {lacking(TOOLS[name])}")
                    continue
                proxy.client = name
                work(there)
        finally:
            broker.kill()
    corpus = Corpus(thinned(proxy.frames, EACH_MAX, FRAME_BYTES_MAX), {ORDERS: topic_id})
    save(corpus)
    pairs = sum(map(len, corpus.versions.values()))
    say(f"{len(corpus.frames)} requests, {pairs} versions, {RECORDED.stat().st_size} bytes")
    return 0


def _common(name: str, there: str) -> None:
    """What the clients of the conformance tests can all do."""
    client = MAKERS[name]()
    try:
        client.describe(there)
        for codec in CODECS:
            now_ms = int(time.time() * 1000)
            headers = (("source", b"fuzz"), ("empty", b""))
            records = [
                Record(
                    partition=0, key=b"key", value=b"v" * 50, headers=headers, timestamp_ms=now_ms
                ),
                Record(partition=1, key=None, value=b"value", timestamp_ms=now_ms),
            ]
            client.produce(there, ORDERS, records, codec)
        client.consume(there, {ORDERS: len(CODECS)})
    finally:
        client.close()


def _administer(name: str, there: str) -> None:
    """What the admin clients of Python's libraries can all do."""
    admin = ADMINS[name](there)
    admin.create(DOOMED, 1, configs={"retention.ms": "60000"})
    admin.grow(DOOMED, 2)
    admin.configs(DOOMED)
    admin.broker_configs()
    admin.replace(DOOMED, {"segment.bytes": "1048576"})
    if isinstance(admin, ConfluentAdmin | KafkaPythonAdmin):
        admin.change(DOOMED, ("retention.ms", "SET", "70000"))
    admin.delete(DOOMED)
    admin.close()


def _confluent(there: str) -> None:
    _common("confluent-kafka", there)
    _administer("confluent-kafka", there)
    producer = Producer({"bootstrap.servers": there, "enable.idempotence": True})
    for number in range(3):
        producer.produce(ORDERS, b"%d" % number, partition=0)
    producer.flush(WAIT_S)
    settings: dict[str, Any] = {"bootstrap.servers": there, "group.id": GROUP}
    settings |= {"auto.offset.reset": "earliest", "session.timeout.ms": 6000}
    settings |= {"heartbeat.interval.ms": 300}
    # A static member stays in its group when it closes: it has one of its own.
    static = Consumer(settings | {"group.id": f"{GROUP}-static", "group.instance.id": "fuzz"})
    static.subscribe([ORDERS])
    _until(lambda: static.poll(0.5) is not None)
    static.close()
    consumer = Consumer(settings)
    consumer.subscribe([ORDERS])
    _until(lambda: consumer.poll(0.5) is not None)
    consumer.commit(asynchronous=False)
    consumer.committed([TopicPartition(ORDERS, 0)], WAIT_S)
    consumer.offsets_for_times([TopicPartition(ORDERS, 0, 1)], WAIT_S)
    admin = ConfluentAdmin(there).client
    _only(admin.describe_consumer_groups([GROUP]))
    time.sleep(0.7)
    consumer.close()
    moved = [ConsumerGroupTopicPartitions(GROUP, [TopicPartition(ORDERS, 0, 1)])]
    _only(admin.alter_consumer_group_offsets(moved))
    asked = [ConsumerGroupTopicPartitions(GROUP)]
    _only(admin.list_consumer_group_offsets(asked))
    admin.list_consumer_groups().result(WAIT_S)
    _only(admin.delete_records([TopicPartition(ORDERS, 0, 1)]))
    # An offset that comes with an epoch is looked up before it is read from.
    validated = Consumer(settings)
    validated.assign([TopicPartition(ORDERS, 0, 2, leader_epoch=0)])
    validated.poll(2)
    validated.close()
    _only(admin.delete_consumer_groups([GROUP]))


def _kafka_python(there: str) -> None:
    # Loaded by now, and with it what it warns of.
    from kafka import KafkaConsumer

    _common("kafka-python", there)
    _administer("kafka-python", there)
    consumer = KafkaConsumer(
        ORDERS, bootstrap_servers=there, group_id=GROUP, auto_offset_reset="earliest"
    )
    _until(lambda: bool(consumer.poll(timeout_ms=500)))
    consumer.commit()
    consumer.close()
    admin = KafkaPythonAdmin(there)
    admin.client.list_groups()
    admin.client.describe_groups([GROUP])
    admin.client.list_group_offsets(GROUP)
    admin.client.delete_groups([GROUP])
    admin.close()


def _aiokafka(there: str) -> None:
    _common("aiokafka", there)
    _administer("aiokafka", there)

    async def consume() -> None:
        consumer = AIOKafkaConsumer(
            ORDERS,
            bootstrap_servers=there,
            group_id=GROUP,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=200,
        )
        await consumer.start()
        await asyncio.wait_for(consumer.getone(), WAIT_S)
        await asyncio.sleep(0.5)
        await consumer.commit()
        await consumer.stop()

    asyncio.run(consume())


def _riverlog(there: str) -> None:
    with riverlog.connect(there) as client:
        client.topics.create(DOOMED, partitions=1)
        client.topics.add_partitions(DOOMED, 2)
        client.topics.set_configs(DOOMED, {"retention.ms": "60000"})
        client.topics.configs(DOOMED)
        client.topics.offsets(DOOMED)
        client.topics.list()
        client.publish_batch(ORDERS, [("key", "value")] * 3).results()
        list(client.subscribe(ORDERS, group=f"{GROUP}-riverlog", start="earliest", count=3))
        client.groups.list()
        client.groups.describe(f"{GROUP}-riverlog")
        client.groups.progress(f"{GROUP}-riverlog")
        client.groups.delete(f"{GROUP}-riverlog")
        client.topics.delete(DOOMED)


def _kafka_tools(there: str) -> None:
    tools = CommandLine()

    def run(tool: str, *arguments: str, stdin: str = "") -> None:
        tools.run(tool, *arguments, "--bootstrap-server", there, stdin=stdin)

    group = f"{GROUP}-tools"
    limits = ("--max-messages", "2", "--timeout-ms", "15000", "--from-beginning")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as shortened:
        place = {"topic": ORDERS, "partition": 0, "offset": 3}
        json.dump({"version": 1, "partitions": [place]}, shortened)
        shortened.flush()
        try:
            run("kafka-topics", "--create", "--topic", DOOMED, "--partitions", "1")
            run("kafka-topics", "--describe", "--topic", DOOMED)
            run("kafka-configs", "--describe", "--entity-type", "topics", "--entity-name", DOOMED)
            run("kafka-topics", "--delete", "--topic", DOOMED)
            run("kafka-console-producer", "--topic", ORDERS, stdin="one\ntwo\n")
            run("kafka-console-consumer", "--topic", ORDERS, "--group", group, *limits)
            run("kafka-get-offsets", "--topic", ORDERS, "--time", "latest")
            run("kafka-log-dirs", "--describe")
            run("kafka-delete-records", "--offset-json-file", shortened.name)
            run("kafka-consumer-groups", "--describe", "--group", group)
            forget = ("--delete-offsets", "--group", group, "--topic", ORDERS)
            run("kafka-consumer-groups", *forget)
            run("kafka-consumer-groups", "--delete", "--group", group)
            run("kafka-cluster", "cluster-id")
        finally:
            tools.close()


def _only(futures: Mapping[Any, Any]) -> None:  # the library says no types
    """Waits for the one thing that was asked for."""
    (future,) = futures.values()
    future.result(WAIT_S)


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline, "a client has read nothing"


CLIENTS: dict[str, Callable[[str], None]] = {
    "confluent-kafka": _confluent,
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    "kcat": lambda there: _common("kcat", there),
    "kafka-clients": lambda there: _common("kafka-clients", there),
    "kafkajs": lambda there: _common("kafkajs", there),
    "platformatic": lambda there: _common("platformatic", there),
    "riverlog": _riverlog,
    "kafka-tools": _kafka_tools,
}

if __name__ == "__main__":
    sys.exit(main())
