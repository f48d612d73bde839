"""What was acknowledged before it is durable (acks=1) is waited for by whoever asks for the end."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

from riverlog.broker.broker import Broker
from riverlog.kafka.errors import ANSWERABLE

# A disk that is slower than this is not worth waiting for: then the end is where it was.
SETTLED_S_MAX = 0.5


class AskedPartition(Protocol):
    """A partition, as requests name it."""

    partition_index: int


class AskedTopic(Protocol):
    """A topic, as requests name it."""

    name: str

    @property
    def partitions(self) -> Sequence[AskedPartition]: ...


def unsettled(broker: Broker, topics: Iterable[AskedTopic]) -> list[asyncio.Future[None]]:
    """One for each of these partitions with records under way: done when their fate is known.

    Partitions that are not there are left out: what is wrong with them is for the answer to say.
    """
    found = []
    for topic in topics:
        for asked in topic.partitions:
            try:
                partition = broker.partition(broker.topic(topic.name), asked.partition_index)
            except ANSWERABLE:
                continue
            settled = partition.settled()
            if settled is not None:
                found.append(settled)
    return found


async def settle(waiting: list[asyncio.Future[None]]) -> None:
    """Returns when all of them are done, or have had their time."""
    await asyncio.wait(waiting, timeout=SETTLED_S_MAX)
