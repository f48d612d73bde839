"""confluent-kafka: librdkafka from Python."""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.conformance.clients.client import (
    DEADLINE_S,
    ClientFailed,
    Cluster,
    Lack,
    Record,
    missing,
)


class ConfluentClient:
    """librdkafka with its defaults, but for what one message may weigh."""

    name = "confluent-kafka"
    lacks = Lack.NOTHING

    def describe(self, bootstrap: str) -> Cluster:
        admin = AdminClient({"bootstrap.servers": bootstrap})
        cluster = admin.describe_cluster(request_timeout=DEADLINE_S).result(DEADLINE_S)
        listed = admin.list_topics(timeout=DEADLINE_S)
        assert listed.cluster_id == cluster.cluster_id
        return Cluster(
            cluster_id=cluster.cluster_id,
            controller_id=cluster.controller.id,
            brokers=tuple((node.id, node.host, node.port) for node in cluster.nodes),
            topics={name: len(topic.partitions) for name, topic in listed.topics.items()},
        )

    def create_topics(self, bootstrap: str, partition_counts: Mapping[str, int]) -> None:
        topics = [NewTopic(topic, count, 1) for topic, count in partition_counts.items()]
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for created in admin.create_topics(topics).values():
            created.result(DEADLINE_S)

    def produce(self, bootstrap: str, topic: str, records: Sequence[Record], codec: str) -> None:
        settings = {
            "bootstrap.servers": bootstrap,
            "compression.type": codec,
            "message.max.bytes": 1_048_576,
            "linger.ms": 20,
        }
        producer = Producer(settings)
        failures: list[KafkaError] = []

        def delivered(failure: KafkaError | None, message: Message) -> None:
            if failure is not None:
                failures.append(failure)

        for record in records:
            producer.produce(
                topic,
                record.value,
                record.key,
                record.partition,
                on_delivery=delivered,
                timestamp=record.timestamp_ms,
                headers=list(record.headers),
            )
        unsent = producer.flush(DEADLINE_S)
        if failures or unsent:
            raise ClientFailed(f"{unsent} records are not acknowledged, {failures} failed")

    def consume(self, bootstrap: str, counts: Mapping[str, int]) -> dict[str, list[Record]]:
        settings = {
            "bootstrap.servers": bootstrap,
            "group.id": "unused, as partitions are assigned by hand",
            "enable.auto.commit": False,
        }
        consumer = Consumer(settings)
        try:
            listed = consumer.list_topics(timeout=DEADLINE_S).topics
            consumer.assign(
                [
                    TopicPartition(topic, partition, OFFSET_BEGINNING)
                    for topic in counts
                    for partition in listed[topic].partitions
                ]
            )
            return self._read(consumer, counts)
        finally:
            consumer.close()

    def close(self) -> None:
        pass

    def _read(self, consumer: Consumer, counts: Mapping[str, int]) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {topic: [] for topic in counts}
        deadline = monotonic() + DEADLINE_S
        while any(len(found[topic]) < count for topic, count in counts.items()):
            if monotonic() > deadline:
                raise ClientFailed(missing(counts, found))
            for message in consumer.consume(500, timeout=0.2):
                error = message.error()
                if error is not None:
                    raise ClientFailed(str(error))
                topic, record = _taken(message)
                found[topic].append(record)
        return found


def _taken(message: Any) -> tuple[str, Record]:  # its type allows for messages without a topic
    return message.topic(), Record(
        partition=message.partition(),
        key=message.key(),
        value=message.value(),
        headers=tuple(message.headers() or ()),
        timestamp_ms=message.timestamp()[1],
    )
