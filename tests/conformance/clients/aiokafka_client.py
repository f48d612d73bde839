"""aiokafka: a client written for asyncio."""

import asyncio
from collections.abc import Mapping, Sequence
from time import monotonic

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.conformance.clients.client import (
    DEADLINE_S,
    ClientFailed,
    Cluster,
    Lack,
    Record,
    missing,
)


class AiokafkaClient:
    """aiokafka with its defaults; each call runs a loop of its own."""

    name = "aiokafka"
    lacks = Lack.NOTHING

    def describe(self, bootstrap: str) -> Cluster:
        return asyncio.run(_describe(bootstrap))

    def create_topics(self, bootstrap: str, partition_counts: Mapping[str, int]) -> None:
        asyncio.run(_create_topics(bootstrap, partition_counts))

    def produce(self, bootstrap: str, topic: str, records: Sequence[Record], codec: str) -> None:
        asyncio.run(_produce(bootstrap, topic, records, codec))

    def consume(self, bootstrap: str, counts: Mapping[str, int]) -> dict[str, list[Record]]:
        return asyncio.run(_consume(bootstrap, counts))

    def close(self) -> None:
        pass


async def _describe(bootstrap: str) -> Cluster:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        cluster = await admin.describe_cluster()
        topics = await admin.describe_topics(await admin.list_topics())
    finally:
        await admin.close()
    return Cluster(
        cluster_id=cluster["cluster_id"],
        controller_id=cluster["controller_id"],
        brokers=tuple((b["node_id"], b["host"], b["port"]) for b in cluster["brokers"]),
        topics={topic["topic"]: len(topic["partitions"]) for topic in topics},
    )


async def _create_topics(bootstrap: str, partition_counts: Mapping[str, int]) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        reply = await admin.create_topics(
            [NewTopic(topic, count, 1) for topic, count in partition_counts.items()]
        )
    finally:
        await admin.close()
    # It leaves it to its callers to look at each topic's error.
    failures = [error for error in reply.topic_errors if error[1] != 0]
    if failures:
        raise ClientFailed(str(failures))


async def _produce(bootstrap: str, topic: str, records: Sequence[Record], codec: str) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        compression_type=None if codec == "none" else codec,
        linger_ms=20,
    )
    await producer.start()
    try:
        sent = [
            await producer.send(
                topic,
                record.value,
                record.key,
                record.partition,
                record.timestamp_ms,
                list(record.headers),
            )
            for record in records
        ]
        await asyncio.wait_for(asyncio.gather(*sent), DEADLINE_S)
    finally:
        await producer.stop()


async def _consume(bootstrap: str, counts: Mapping[str, int]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {topic: [] for topic in counts}
    consumer = AIOKafkaConsumer(
        *counts, bootstrap_servers=bootstrap, group_id=None, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        deadline = monotonic() + DEADLINE_S
        while any(len(found[topic]) < count for topic, count in counts.items()):
            if monotonic() > deadline:
                raise ClientFailed(missing(counts, found))
            for partition, records in (await consumer.getmany(timeout_ms=200)).items():
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
        await consumer.stop()
    return found
