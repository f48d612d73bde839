"""What a cluster says about itself: its brokers, its topics, and who leads which partition."""

from typing import NamedTuple
from uuid import UUID

from riverlog.config import Address
from riverlog.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic

NO_LEADER = -1


class PartitionView(NamedTuple):
    """One partition, as a broker described it; `leader` is -1 while it has none."""

    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


class TopicView(NamedTuple):
    """One topic, as a broker described it; its partitions in order."""

    name: str
    topic_id: UUID
    is_internal: bool
    partitions: tuple[PartitionView, ...]

    def leader_of(self, partition: int) -> int | None:
        """The node that leads a partition, if one is known to."""
        for view in self.partitions:
            if view.partition == partition:
                return None if view.leader == NO_LEADER else view.leader
        return None


def read_topic(topic: MetadataResponseTopic) -> TopicView:
    """The view of a topic that was described without an error."""
    partitions = [
        PartitionView(
            partition=partition.partition_index,
            leader=partition.leader_id,
            leader_epoch=partition.leader_epoch,
            replicas=tuple(partition.replica_nodes),
            in_sync=tuple(partition.isr_nodes),
        )
        for partition in topic.partitions
    ]
    return TopicView(
        name=topic.name or "",
        topic_id=UUID(bytes=topic.topic_id),
        is_internal=topic.is_internal,
        partitions=tuple(sorted(partitions)),
    )


def read_brokers(response: MetadataResponse) -> dict[int, Address]:
    """Every broker's address by its node id."""
    return {broker.node_id: Address(broker.host, broker.port) for broker in response.brokers}
