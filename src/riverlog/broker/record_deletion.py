"""Deleting the first records of a partition because a client asks for it."""

import asyncio

from riverlog.broker.broker import Broker
from riverlog.broker.errors import PolicyViolation
from riverlog.log.partition import Partition

TO_THE_END = -1


def delete_records(
    broker: Broker, name: str, index: int, offset: int
) -> tuple[Partition, asyncio.Future[None] | None]:
    """Begins to delete what stands before `offset`; done when the future is, or at once.

    `TO_THE_END` stands for the high watermark. Raises `UnknownTopic`, `InternalTopic`,
    `PolicyViolation`, `OffsetOutOfRange` or `OSError`, and the future `OSError`.
    """
    partition = broker.partition(broker.writable_topic(name), index)
    if partition.settings.only_compacts:
        raise PolicyViolation(f"topic '{name}' is compacted: its records go with newer ones")
    if offset == TO_THE_END:
        offset = partition.high_watermark
    return partition, partition.delete_before(offset)
