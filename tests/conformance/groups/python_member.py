"""A member of a group, with one of Python's clients: CLIENT BOOTSTRAP GROUP TOPIC NAME.

It says in JSON lines what it has: {"assigned": [partition, ...]} whenever that changes, and
{"read": [[partition, offset], ...]} once that is committed. SIGTERM has it leave.
"""

import asyncio
import json
import signal
import sys
import threading
import warnings
from collections.abc import Iterable
from typing import Any

SESSION_MS, HEARTBEAT_MS = 6_000, 500
ENDING = threading.Event()


def say(**said: object) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def with_confluent_kafka(bootstrap: str, group: str, topic: str, name: str) -> None:
    from confluent_kafka import Consumer, KafkaException

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "client.id": name,
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "partition.assignment.strategy": "roundrobin",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "reconnect.backoff.max.ms": 500,
        }
    )

    def assigned(_: Consumer, partitions: Iterable[Any]) -> None:
        say(assigned=[each.partition for each in partitions])

    consumer.subscribe([topic], on_assign=assigned, on_revoke=lambda *_: say(assigned=[]))
    while not ENDING.is_set():
        messages = [each for each in consumer.consume(100, timeout=0.2) if each.error() is None]
        if not messages:
            continue
        try:
            consumer.commit(asynchronous=False)
        except KafkaException:
            continue
        say(read=[[each.partition(), each.offset()] for each in messages])
    consumer.close()


def with_kafka_python(bootstrap: str, group: str, topic: str, name: str) -> None:
    with warnings.catch_warnings():
        # It reads its schemas with a deprecated function of the standard library.
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka import ConsumerRebalanceListener, KafkaConsumer
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from kafka.errors import KafkaError

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # it is untyped
        def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
            say(assigned=[each.partition for each in assigned])

        def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
            say(assigned=[])

    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        client_id=name,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        partition_assignment_strategy=[RoundRobinPartitionAssignor],
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        reconnect_backoff_max_ms=500,
    )
    consumer.subscribe([topic], listener=Listener())
    while not ENDING.is_set():
        records = [each for some in consumer.poll(200).values() for each in some]
        if not records:
            continue
        try:
            consumer.commit()
        except KafkaError:
            continue
        say(read=[[each.partition, each.offset] for each in records])
    consumer.close()


async def with_aiokafka(bootstrap: str, group: str, topic: str, name: str) -> None:
    from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
    from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from aiokafka.errors import KafkaError

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # it is untyped
        async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
            say(assigned=[each.partition for each in assigned])

        async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
            say(assigned=[])

    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        client_id=name,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        partition_assignment_strategy=(RoundRobinPartitionAssignor,),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    consumer.subscribe([topic], listener=Listener())
    await consumer.start()
    while not ENDING.is_set():
        found = await consumer.getmany(timeout_ms=200)
        records = [each for some in found.values() for each in some]
        if not records:
            continue
        try:
            await consumer.commit()
        except KafkaError:
            continue
        say(read=[[each.partition, each.offset] for each in records])
    await consumer.stop()


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: ENDING.set())
    client, *arguments = sys.argv[1:]
    match client:
        case "confluent-kafka":
            with_confluent_kafka(*arguments)
        case "kafka-python":
            with_kafka_python(*arguments)
        case "aiokafka":
            asyncio.run(with_aiokafka(*arguments))


if __name__ == "__main__":
    main()
