"""kafka-python: a client written wholly in Python."""

import warnings
from collections.abc import Mapping, Sequence
from time import monotonic

from tests.conformance.clients.client import (
    DEADLINE_S,
    ClientFailed,
    Cluster,
    Lack,
    Record,
    missing,
)

with warnings.catch_warnings():
    # It reads its schemas with a deprecated function of the standard library.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import NewTopic


class KafkaPythonClient:
    """kafka-python with its defaults."""

    name = "kafka-python"
    lacks = Lack.NULL_HEADERS

    def describe(self, bootstrap: str) -> Cluster:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        try:
            cluster = admin.describe_cluster()
            topics = admin.describe_topics(admin.list_topics())
        finally:
            admin.close()
        return Cluster(
            cluster_id=cluster["cluster_id"],
            controller_id=cluster["controller_id"],
            brokers=tuple((b["broker_id"], b["host"], b["port"]) for b in cluster["brokers"]),
            topics={topic["name"]: len(topic["partitions"]) for topic in topics},
        )

    def create_topics(self, bootstrap: str, partition_counts: Mapping[str, int]) -> None:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        try:
            admin.create_topics(
                [NewTopic(topic, count, 1) for topic, count in partition_counts.items()]
            )
        finally:
            admin.close()

    def produce(self, bootstrap: str, topic: str, records: Sequence[Record], codec: str) -> None:
        producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            compression_type=None if codec == "none" else codec,
            linger_ms=20,
        )
        try:
            sent = [
                producer.send(
                    topic,
                    record.value,
                    record.key,
                    list(record.headers),
                    record.partition,
                    record.timestamp_ms,
                )
                for record in records
            ]
            producer.flush(DEADLINE_S)
            for each in sent:
                each.get(DEADLINE_S)
        finally:
            producer.close()

    def consume(self, bootstrap: str, counts: Mapping[str, int]) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {topic: [] for topic in counts}
        consumer = KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        try:
            partitions = [
                TopicPartition(topic, partition)
                for topic in counts
                for partition in consumer.partitions_for_topic(topic)
            ]
            consumer.assign(partitions)
            consumer.seek_to_beginning(*partitions)
            deadline = monotonic() + DEADLINE_S
            while any(len(found[topic]) < count for topic, count in counts.items()):
                if monotonic() > deadline:
                    raise ClientFailed(missing(counts, found))
                for partition, records in consumer.poll(timeout_ms=200).items():
                    found[partition.topic] += [
                        Record(
                            partition=record.partition,
                            key=record.key,
                            value=record.value,
                            headers=tuple(record.headers),
                            timestamp_ms=record.timestamp,
                        )
                        for record in records
                    ]
        finally:
            consumer.close()
        return found

    def close(self) -> None:
        pass
